import type { AssetStore } from '../assets/asset-store.ts';
import type { SpareRoom } from '../data-folder/spare-room.ts';
import { isNoRoom } from '../disk.ts';
import type { Pricing } from '../ledger/pricing.ts';
import type { Logger } from '../logger.ts';
import type { RenderResult, StopReason } from '../render/run/render-task.ts';
import { isTransient } from '../shortage.ts';
import { CREDITS_RAN_OUT, MOST_ATTEMPTS, NO_ROOM, NOT_STORED, RENDERER_FAILED } from './failures.ts';
import type { JobOutcome, JobRecord } from './job.ts';
import type { ClaimedJob } from './job-claims.ts';
import type { FinishOptions } from './job-ending.ts';
import { sizeOfFiles, storeArtifacts } from './store-artifacts.ts';

/** What follows an attempt at a job. */
export type AttemptEnd =
  | { next: 'finish'; outcome: JobOutcome; options: FinishOptions }
  /** The attempt counts. `error`: the job's, when that was its last attempt. */
  | { next: 'count'; error: string; durationMs: number }
  /**
   * The attempt doesn't count. `interrupted`: the thread died during it. `hold`: no attempt is begun for a while, for
   * lack of a renderer or of a resource.
   */
  | { next: 'wait'; interrupted?: true; hold?: 'renderer' | 'shortage'; reason: string }
  /** The attempt doesn't count, and the job waits for the next start. */
  | { next: 'leave' }
  /** The job is no longer this attempt's. */
  | { next: 'nothing' };

export interface AttemptWorld {
  assets: AssetStore;
  pricing: Pricing;
  logger: Logger;
  /** Told how much has to be free for a further attempt when artifacts did not fit on the disk. */
  room: SpareRoom | undefined;
}

/** Bytes that a short video takes: how much a scene needs that ran out of room is unknown. */
const LEAST_MISSING_BYTES = 16 * 1024 * 1024;

/**
 * Decides what follows an attempt whose render ended like this; stores its artifacts. Only a renderer that died by
 * itself over a job, a disk without room and a result that is lost count: what the service or the machine is short of,
 * and a stop or a crash of the service, are no fault of the job.
 */
export async function endOfAttempt(
  { job, claim }: ClaimedJob,
  result: RenderResult,
  world: AttemptWorld,
): Promise<AttemptEnd> {
  const { jobId, attempts } = job;
  const { durationMs } = result;
  const { logger } = world;
  switch (result.kind) {
    case 'rendered':
      return endOfRendered({ job, claim }, result, world);
    case 'failed': {
      const outcome: JobOutcome = { kind: 'failed', error: result.error, failedBy: 'scene' };
      return { next: 'finish', outcome, options: { durationMs, storedNothing: true } };
    }
    case 'stopped':
      return endOfStopped(result.reason, durationMs);
    case 'no_room':
      logger.error({ jobId, attempt: attempts }, 'The disk was full while rendering.');
      return withoutRoom(job, durationMs, LEAST_MISSING_BYTES, world);
    case 'died':
      logger.error({ jobId, reason: result.message, attempt: attempts }, 'A renderer died while rendering.');
      return { next: 'count', error: RENDERER_FAILED, durationMs };
    case 'interrupted':
      logger.error({ jobId, reason: result.message }, 'A worker thread died while rendering.');
      return { next: 'wait', interrupted: true, reason: result.message };
    case 'unavailable':
      return { next: 'wait', hold: result.isShortage ? 'shortage' : 'renderer', reason: result.message };
  }
}

/** The same for an attempt that failed with an error, in the service. */
export function endOfFailure(job: JobRecord, error: Error, logger: Logger): AttemptEnd {
  if (isTransient(error)) return { next: 'wait', hold: 'shortage', reason: error.message };
  const { jobId, attempts } = job;
  const reason = error.message;
  logger.error(
    { err: error, jobId, reason, attempt: attempts },
    'An attempt at a job failed in the service.',
  );
  return { next: 'count', error: RENDERER_FAILED, durationMs: 0 };
}

/** A job whose claim is worthless is no business of the attempt any more: whatever it asks for is refused. */
function endOfStopped(reason: StopReason, durationMs: number): AttemptEnd {
  switch (reason) {
    case 'funds': {
      const outcome: JobOutcome = { kind: 'failed', error: CREDITS_RAN_OUT, failedBy: 'credits' };
      return { next: 'finish', outcome, options: { durationMs, storedNothing: true } };
    }
    case 'worthless':
      return { next: 'nothing' };
    case 'cut off':
      return { next: 'wait', reason: 'its claim could not be renewed' };
    case 'shutdown':
      return { next: 'leave' };
  }
}

/** A render that was to be stopped isn't attempted again because its worker died over it. */
export function resultOf(result: RenderResult, stopReason: StopReason | undefined): RenderResult {
  const undecided = ['died', 'no_room', 'unavailable', 'interrupted'].includes(result.kind);
  if (!undecided || !stopReason) return result;
  return { kind: 'stopped', durationMs: result.durationMs, reason: stopReason };
}

async function endOfRendered(
  { job, claim }: ClaimedJob,
  result: Extract<RenderResult, { kind: 'rendered' }>,
  world: AttemptWorld,
): Promise<AttemptEnd> {
  const { jobId, quality } = job;
  const { assets, pricing, logger } = world;
  const { durationMs } = result;
  const sizeBytes = await sizeOfFiles(result.files).catch(() => LEAST_MISSING_BYTES);
  try {
    const artifacts = await storeArtifacts(claim, result, { assets, logger });
    const costCredits = pricing.costCredits(quality, durationMs);
    return {
      next: 'finish',
      outcome: { kind: 'completed', artifacts, costCredits },
      options: { durationMs },
    };
  } catch (error) {
    // Warned of where the job is put back.
    if (isTransient(error)) return { next: 'wait', hold: 'shortage', reason: (error as Error).message };
    logger.error({ err: error, jobId }, 'The artifacts could not be stored.');
    if (isNoRoom(error)) return withoutRoom(job, durationMs, sizeBytes, world);
    return { next: 'count', error: NOT_STORED, durationMs };
  }
}

function withoutRoom(
  { attempts }: JobRecord,
  durationMs: number,
  missingBytes: number,
  { room }: AttemptWorld,
): AttemptEnd {
  void room?.ranOut({ missingBytes: attempts >= MOST_ATTEMPTS ? 1 : missingBytes });
  return { next: 'count', error: NO_ROOM, durationMs };
}
