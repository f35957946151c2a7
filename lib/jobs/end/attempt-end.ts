import type { AssetStore } from '../../assets/asset-store.ts';
import type { AssetStoreWatch } from '../../assets/asset-store-watch.ts';
import type { VideoIndexes } from '../../assets/video-indexes.ts';
import { isScenepressError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { isOutOfSpace, ROOM } from '../../files/disk.ts';
import { isShortage, isTransient } from '../../files/shortage.ts';
import type { SpareSpace } from '../../files/spare-space.ts';
import type { Pricing } from '../../ledger/pricing.ts';
import { CREDITS_RAN_OUT, type FailedBy, NOT_STORED, RENDERER_FAILED } from '../../model/failures.ts';
import { type Finding, findingOf } from '../../model/finding.ts';
import type { IndexedVideo, JobOutcome, JobRecord } from '../../model/job.ts';
import type { RenderResult, RenderUsage, StopReason } from '../../model/render-task.ts';
import type { Claim } from '../../storage/queue/queue.ts';
import { captionsIn } from './captions-in.ts';
import type { FinishOptions } from './job-ending.ts';
import { sizeOfFiles, storeArtifacts } from './store-artifacts.ts';

/** The next step after an attempt. */
export type AttemptEnd =
  | { next: 'finish'; outcome: JobOutcome; options: FinishOptions }
  /** The attempt counts. The rest is for the job if this was its last attempt; by default, the service is at fault. */
  | {
      next: 'count';
      error: string;
      failedBy?: FailedBy;
      diagnosis?: Finding;
      durationMs: number;
      details?: Pick<FinishOptions, 'usage' | 'output'>;
    }
  /**
   * Requeue; the attempt does not count. `interrupted`: the job may be the cause, so it is delayed if that happens
   * again. `hold`: pauses new attempts for lack of a renderer or of a resource.
   */
  | { next: 'wait'; interrupted?: true; hold?: 'renderer' | 'shortage'; reason: string }
  /** The service stops: requeue for the next start; the attempt does not count. */
  | { next: 'leave' }
  /** The claim is no longer valid. */
  | { next: 'nothing' };

export interface AttemptEndParts {
  assets: AssetStore;
  storeWatch: Pick<AssetStoreWatch, 'isAtFault' | 'noteStored'>;
  /** Undefined: videos get no indexes. */
  indexes?: Pick<VideoIndexes, 'taskOf' | 'release' | 'store'> | undefined;
  pricing: Pricing;
  logger: Logger;
  /** Checked after the disk was full during a render. */
  spareSpace: Pick<SpareSpace, 'check' | 'isShort'> | undefined;
  /** Whether the disk that renders use is too full for small ones. */
  isDiskFull: () => Promise<boolean>;
}

/**
 * Stores the artifacts of a render and decides what to do next. Only a killed scene, failures of the renderer
 * and files that the store does not take count as attempts; what ends other processes, a full disk, shortages of
 * resources, a store that fails, and stops or crashes of the service are not the job's fault.
 */
export async function endOfAttempt(
  { job, claim }: { job: JobRecord; claim: Claim },
  result: RenderResult,
  parts: AttemptEndParts,
): Promise<AttemptEnd> {
  const { jobId, attempts } = job;
  const { durationMs } = result;
  const { logger } = parts;
  switch (result.kind) {
    case 'rendered':
      return endOfRendered({ job, claim }, result, parts);
    case 'failed': {
      const { error, failedBy } = result;
      const diagnosis = result.finding ?? findingOf(result);
      const outcome: JobOutcome = { kind: 'failed', error, failedBy, diagnosis };
      return { next: 'finish', outcome, options: { durationMs, storedNothing: true, ...detailsOf(result) } };
    }
    case 'killed': {
      const { error, failedBy } = result;
      const diagnosis = result.finding ?? findingOf(result);
      logger.warn({ jobId, attempt: attempts }, 'The process of a scene was killed.');
      return { next: 'count', error, failedBy, diagnosis, durationMs, details: detailsOf(result) };
    }
    case 'stopped':
      return endOfStopped(result.reason, durationMs);
    case 'disk_full':
      return endOfFullDisk(job, parts);
    case 'died':
      logger.error({ jobId, reason: result.message, attempt: attempts }, 'A renderer died while rendering.');
      return { next: 'count', error: RENDERER_FAILED, durationMs };
    case 'interrupted':
      // Logged where new attempts are paused.
      if (result.isShortage)
        return { next: 'wait', interrupted: true, hold: 'shortage', reason: result.message };
      logger.error({ jobId, reason: result.message }, 'A process of the renderer ended while rendering.');
      return { next: 'wait', interrupted: true, reason: result.message };
    case 'unavailable':
      return { next: 'wait', hold: result.isShortage ? 'shortage' : 'renderer', reason: result.message };
  }
}

/** Waits for space with all others or, if only this job does not fit, beside them: it may need more than there ever is. */
async function endOfFullDisk({ jobId, attempts }: JobRecord, parts: AttemptEndParts): Promise<AttemptEnd> {
  const { spareSpace, logger } = parts;
  const reason = 'the disk is full';
  await spareSpace?.check();
  const isFull = spareSpace?.isShort || (await parts.isDiskFull());
  const message = isFull
    ? 'The disk was full while rendering.'
    : 'The files of a job did not fit on the disk.';
  logger.error({ jobId, attempt: attempts }, `${message} The job waits.`);
  if (!isFull) return { next: 'wait', interrupted: true, reason };
  return spareSpace?.isShort ? { next: 'wait', reason } : { next: 'wait', hold: 'shortage', reason };
}

/** Decides what to do after an error of the service itself. */
export function endOfFailure(job: JobRecord, error: Error, logger: Logger): AttemptEnd {
  if (isTransient(error)) return { next: 'wait', hold: 'shortage', reason: error.message };
  const { jobId, attempts } = job;
  const reason = error.message;
  logger.error(
    { err: error, jobId, reason, attempt: attempts },
    'An attempt at a job failed in the service.',
  );
  // A file of the job, which no other attempt would find.
  if (isScenepressError(error, 'not_found')) {
    const outcome: JobOutcome = { kind: 'failed', error: reason, failedBy: 'service' };
    return { next: 'finish', outcome, options: { durationMs: 0, storedNothing: true } };
  }
  return { next: 'count', error: RENDERER_FAILED, durationMs: 0 };
}

/** With an invalid claim there is nothing to do: any write would be rejected. */
function endOfStopped(reason: StopReason, durationMs: number): AttemptEnd {
  switch (reason) {
    case 'funds': {
      const outcome: JobOutcome = { kind: 'failed', error: CREDITS_RAN_OUT, failedBy: 'credits' };
      return { next: 'finish', outcome, options: { durationMs, storedNothing: true } };
    }
    case 'canceled':
    case 'claim_lost':
      return { next: 'nothing' };
    case 'claim_expired':
      return { next: 'wait', reason: 'its claim could not be renewed' };
    case 'shutdown':
      return { next: 'leave' };
  }
}

/** A render that was being stopped counts as stopped even if its worker died or failed first. */
export function resultOf(result: RenderResult, stopReason: StopReason | undefined): RenderResult {
  const undecided = ['died', 'killed', 'disk_full', 'unavailable', 'interrupted'].includes(result.kind);
  if (!undecided || !stopReason) return result;
  return { kind: 'stopped', durationMs: result.durationMs, reason: stopReason };
}

async function endOfRendered(
  { job, claim }: { job: JobRecord; claim: Claim },
  result: Extract<RenderResult, { kind: 'rendered' }>,
  parts: AttemptEndParts,
): Promise<AttemptEnd> {
  const { jobId, quality } = job;
  const { assets, indexes, pricing, logger, storeWatch } = parts;
  const { durationMs, index } = result;
  let indexed: IndexedVideo | undefined;
  const sizeBytes = await sizeOfFiles(result.files).catch(() => ROOM.bytes);
  const captions = await captionsIn(result.files);
  try {
    const artifacts = await storeArtifacts(claim, result, { assets, logger }, async () => {
      if (index !== undefined) indexed = await indexes?.store({ job, claim }, index);
    });
    storeWatch.noteStored();
    const costCredits = pricing.costCredits(quality, durationMs);
    return {
      next: 'finish',
      outcome: { kind: 'completed', artifacts, costCredits },
      options: {
        durationMs,
        plays: result.plays,
        ...detailsOf(result),
        ...(captions !== null && { captions }),
        ...(indexed && { indexed }),
      },
    };
  } catch (error) {
    const reason = (error as Error).message;
    // Logged where the job is requeued.
    if (isShortage(error)) return { next: 'wait', hold: 'shortage', reason };
    logger.error({ err: error, jobId }, 'The artifacts could not be stored.');
    if (await storeWatch.isAtFault(error, sizeBytes)) return { next: 'wait', reason };
    // Only the files of this job did not fit: there may never be enough space for them.
    if (isOutOfSpace(error)) return { next: 'wait', interrupted: true, reason };
    return { next: 'count', error: NOT_STORED, durationMs };
  }
}

function detailsOf({ usage, output }: { usage?: RenderUsage; output?: string }): {
  usage?: RenderUsage;
  output?: string;
} {
  return { ...(usage !== undefined && { usage }), ...(output && { output }) };
}
