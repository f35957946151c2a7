import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { AssetStore } from '../assets/asset-store.ts';
import { ScenepressError } from '../errors.ts';
import { timeOfId } from '../ids.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Pricing } from '../ledger/pricing.ts';
import type { Logger } from '../logger.ts';
import { discardFolder } from '../render/remove-folder.ts';
import type { PooledRender, RenderPool } from '../render/render-pool.ts';
import type { RenderProgress, RenderResult, StopReason } from '../render/render-task.ts';
import { isNoRoom } from '../storage/spare-room.ts';
import type { Storage } from '../storage/storage.ts';
import { FairQueue } from './fair-queue.ts';
import { type Artifact, type ArtifactName, assetKeyOf, type JobOutcome, type JobRecord } from './job.ts';
import {
  CREDITS_RAN_OUT,
  type FinishOptions,
  type JobBook,
  MOST_ATTEMPTS,
  NO_ROOM,
  RENDERER_FAILED,
} from './job-book.ts';
import { sizeOf } from './qualities.ts';

/** How many jobs may wait and run. */
export interface QueueOptions {
  /** Jobs that may wait, of all owners together. Default 10,000. */
  maxQueued: number;
  /** Jobs of one owner that may wait. Default 1,000. */
  maxQueuedPerOwner: number;
  /** Renders of one owner at the same time. Default: as many as there are workers. */
  maxRunningPerOwner: number;
}

export const DEFAULT_QUEUE: QueueOptions = {
  maxQueued: 10_000,
  maxQueuedPerOwner: 1_000,
  maxRunningPerOwner: Number.POSITIVE_INFINITY,
};

interface RunningRender {
  owner: string;
  /** Undefined until the attempt is written down and its source read. */
  render: PooledRender | undefined;
  /** Why it is to end; the first reason counts. Outlives a worker that dies before it hears of it. */
  stopReason: StopReason | undefined;
  progress: RenderProgress | undefined;
  /** Resolves when the attempt is written down. */
  ended: Promise<void>;
}

const FUNDS_CHECK_MS = 1_000;
const HOLD_FIRST_MS = 1_000;
const HOLD_LONGEST_MS = 30_000;
/** What a scene needs that found no room is known to nobody; a short video takes this much. */
const LEAST_MISSING_BYTES = 16 * 1024 * 1024;
/** A stop waits so long for what is still to be removed. */
const DISCARD_GRACE_MS = 5_000;
const RETRY_FIRST_MS = 500;
const RETRY_LONGEST_MS = 30_000;

const CONTENT_TYPES: Record<ArtifactName, string> = {
  'video.mp4': 'video/mp4',
  'thumbnail.jpg': 'image/jpeg',
  'captions.vtt': 'text/vtt',
};

export interface DispatcherOptions {
  book: JobBook;
  storage: Storage;
  assets: AssetStore;
  ledger: Ledger;
  pricing: Pricing;
  logger: Logger;
  queue: QueueOptions;
  previewIntervalMs: number;
  /** False while no attempts are to be begun; {@link Dispatcher.dispatch} when they may again. */
  mayBegin: () => boolean;
  /** The artifacts of a render did not fit on the disk. */
  onNoRoom: (missingBytes: number) => void;
  /** A job changed its status. */
  onChange: (job: JobRecord) => void;
  onProgress: (jobId: string, progress: RenderProgress) => void;
  onPreview: (jobId: string, jpeg: Buffer) => void;
}

/** Gives waiting jobs to free workers, fair between owners, and sees each attempt to its end. */
export class Dispatcher {
  readonly #book: JobBook;
  readonly #storage: Storage;
  readonly #assets: AssetStore;
  readonly #ledger: Ledger;
  readonly #pricing: Pricing;
  readonly #logger: Logger;
  readonly #options: DispatcherOptions;
  #pool: RenderPool | undefined;
  #queue = new FairQueue();
  #paused = false;
  /** Set while no worker was able to begin: a hold that gets longer each time. */
  #hold: NodeJS.Timeout | undefined;
  #holdMs = HOLD_FIRST_MS;
  readonly #running = new Map<string, RunningRender>();
  readonly #discards = new Set<Promise<void>>();
  #stopSignal = new AbortController();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#book = options.book;
    this.#storage = options.storage;
    this.#assets = options.assets;
    this.#ledger = options.ledger;
    this.#pricing = options.pricing;
    this.#logger = options.logger;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** When the job that has waited longest was made, in epoch milliseconds; null when none waits. */
  get oldestQueuedMs(): number | null {
    const { oldest } = this.#queue;
    return oldest === undefined ? null : timeOfId(oldest);
  }

  get running(): number {
    return this.#running.size;
  }

  /**
   * Begins with the jobs that wait, on a pool that is warm; when `paused`, only after {@link unpause}. Without a pool
   * they are only counted.
   */
  start(pool: RenderPool | undefined, waiting: JobRecord[], { paused }: { paused: boolean }): void {
    this.#paused = paused;
    this.#queue = new FairQueue();
    for (const { owner, jobId } of waiting) this.#queue.add(owner, jobId);
    this.#pool = pool;
    this.dispatch();
  }

  /** Begins no more attempts; running ones may go on for `graceMs`, then they are ended and their jobs wait again. */
  async stop(graceMs: number): Promise<void> {
    this.#pool = undefined;
    clearTimeout(this.#hold);
    this.#hold = undefined;
    const ended = () => Promise.all([...this.#running.values()].map((running) => running.ended));
    if (graceMs > 0) await within(graceMs, ended());
    this.#stopSignal.abort();
    for (const running of this.#running.values()) stopRender(running, 'shutdown');
    await ended();
    await within(DISCARD_GRACE_MS, Promise.all(this.#discards));
    this.#stopSignal = new AbortController();
  }

  /** Begins no more attempts; running ones go on. */
  pause(): void {
    this.#paused = true;
  }

  unpause(): void {
    this.#paused = false;
    this.dispatch();
  }

  /** `queue_full` when no more jobs of that owner may wait. */
  assertRoom(owner: string): void {
    const { maxQueued, maxQueuedPerOwner } = this.#options.queue;
    if (this.#queue.size < maxQueued && this.#queue.sizeOf(owner) < maxQueuedPerOwner) return;
    throw new ScenepressError('queue_full', 'As many jobs wait as may. Try again later.');
  }

  add({ owner, jobId }: JobRecord): void {
    this.#queue.add(owner, jobId);
    this.dispatch();
  }

  /**
   * Ends a job that waits, or the attempt at it that is under way, whose end is not waited for. When it rejects, the
   * job goes on as if nobody had asked.
   */
  async cancel({ owner, jobId }: JobRecord): Promise<void> {
    const waited = this.#queue.remove(owner, jobId);
    // What is written down as running and isn't, was left by a service that was killed.
    const only = this.#running.has(jobId) ? ({ only: 'queued' } as const) : {};
    try {
      const outcome = { kind: 'failed', error: 'Canceled' } as const;
      const ended = await this.#book.finish(jobId, outcome, { durationMs: 0, ...only });
      if (ended) return this.#options.onChange(ended);
    } catch (error) {
      // Once it is written down that it ends, it does, however long the ledger takes to answer.
      if ((await this.#storage.getJob(jobId))?.phase === 'settling') return void this.resume(jobId);
      if (waited) this.#queue.addFirst(owner, jobId);
      this.dispatch();
      throw error;
    }
    const running = this.#running.get(jobId);
    if (running) stopRender(running, 'canceled');
  }

  /** Takes a job that stands between two steps further, until that succeeds. */
  async resume(jobId: string): Promise<void> {
    const ended = await this.#persistently(() => this.#book.resume(jobId));
    if (ended) this.#options.onChange(ended);
  }

  /** Removes artifacts that no job refers to, where they are. No job's end waits for it. */
  discardLater(assetKeys: string[]): void {
    const discard = this.#discard(assetKeys).finally(() => this.#discards.delete(discard));
    this.#discards.add(discard);
  }

  async #discard(assetKeys: string[]): Promise<void> {
    for (const assetKey of assetKeys) {
      try {
        await this.#assets.delete(assetKey);
      } catch (error) {
        this.#logger.warn(
          { err: error, assetKey },
          'An artifact that no job refers to could not be removed.',
        );
      }
    }
  }

  /** How far a running job is. */
  progress(jobId: string): RenderProgress | undefined {
    return this.#running.get(jobId)?.progress;
  }

  /** To be called when workers are able to begin again. */
  resumeBeginning(): void {
    clearTimeout(this.#hold);
    this.#hold = undefined;
    this.dispatch();
  }

  /** Gives jobs that wait to workers that are free. */
  dispatch(): void {
    const pool = this.#pool;
    if (!pool || this.#paused || this.#hold || !this.#options.mayBegin()) return;
    while (this.#running.size < pool.size) {
      const next = this.#queue.take(
        (owner) => this.#runningOf(owner) < this.#options.queue.maxRunningPerOwner,
      );
      if (!next) return;
      const { owner, jobId } = next;
      const running: RunningRender = {
        owner,
        render: undefined,
        stopReason: undefined,
        progress: undefined,
        ended: Promise.resolve(),
      };
      this.#running.set(jobId, running);
      running.ended = this.#attempt(jobId, running, pool)
        .catch((error: unknown) =>
          this.#logger.error({ err: error, jobId }, 'An attempt ended unexpectedly.'),
        )
        .finally(() => {
          // Waiting again, it may have been given to the next worker already.
          if (this.#running.get(jobId) === running) this.#running.delete(jobId);
          this.dispatch();
        });
    }
  }

  #runningOf(owner: string): number {
    let count = 0;
    for (const running of this.#running.values()) if (running.owner === owner) count += 1;
    return count;
  }

  /** One try of a worker at a job, from `running` to what comes after it. */
  async #attempt(jobId: string, running: RunningRender, pool: RenderPool): Promise<void> {
    const job = await this.#persistently(() => this.#book.begin(jobId));
    if (!job) return;
    this.#options.onChange(job);
    const result = await this.#render(job, running, pool).catch(
      ({ message }: Error): RenderResult => ({ kind: 'died', durationMs: 0, message }),
    );
    await this.#conclude(job, resultOf(result, running.stopReason));
  }

  async #render(job: JobRecord, running: RunningRender, pool: RenderPool): Promise<RenderResult> {
    const { jobId, className, quality, aspectRatio, fps } = job;
    const code = await this.#storage.readSource(jobId);
    assert(code !== undefined, 'a job has its source');
    let fundsTimer: NodeJS.Timeout | undefined;
    const render = pool.render(
      {
        jobId,
        code,
        className,
        fps,
        ...sizeOf(quality, aspectRatio),
        previewIntervalMs: this.#options.previewIntervalMs,
      },
      {
        onStarted: () => {
          this.#holdMs = HOLD_FIRST_MS;
          fundsTimer = this.#watchFunds(job, running);
        },
        onProgress: ({ type: _, ...progress }) => {
          running.progress = progress;
          this.#options.onProgress(jobId, progress);
        },
        onPreview: (jpeg) => this.#options.onPreview(jobId, jpeg),
      },
    );
    running.render = render;
    if (this.#stopSignal.signal.aborted) running.stopReason ??= 'shutdown';
    if (running.stopReason) render.stop(running.stopReason);
    return render.result.finally(() => clearInterval(fundsTimer));
  }

  /** Nobody waits for a render that can't be paid: it ends the moment its cost passes reserve and balance. */
  #watchFunds(job: JobRecord, running: RunningRender): NodeJS.Timeout {
    const startedAt = performance.now();
    return setInterval(async () => {
      const cost = this.#pricing.costCredits(job.quality, performance.now() - startedAt);
      if (cost <= job.reserveCredits) return;
      const available = await this.#ledger.available(job.owner).catch((error: unknown) => {
        this.#logger.warn({ err: error, jobId: job.jobId }, 'The ledger did not say what is available.');
        return Number.POSITIVE_INFINITY;
      });
      if (cost > job.reserveCredits + available) stopRender(running, 'funds');
    }, FUNDS_CHECK_MS);
  }

  async #conclude(job: JobRecord, result: RenderResult): Promise<void> {
    const { jobId } = job;
    const { durationMs } = result;
    switch (result.kind) {
      case 'rendered': {
        const sizeBytes = await totalSize(result.files);
        const artifacts = await this.#store(jobId, result).catch((error: Error) => error);
        if (artifacts instanceof Error) {
          this.#logger.error({ err: artifacts, jobId }, 'The artifacts could not be stored.');
          if (!isNoRoom(artifacts)) return this.#attemptAgain(job, durationMs);
          return this.#attemptWithRoom(job, durationMs, sizeBytes);
        }
        const costCredits = this.#pricing.costCredits(job.quality, durationMs);
        return this.#finish(jobId, { kind: 'completed', artifacts, costCredits }, { durationMs });
      }
      case 'failed':
        return this.#finish(
          jobId,
          { kind: 'failed', error: result.error },
          { durationMs, storedNothing: true },
        );
      case 'no_room':
        this.#logger.error({ jobId, attempt: job.attempts }, 'The disk was full while rendering.');
        return this.#attemptWithRoom(job, durationMs, LEAST_MISSING_BYTES);
      case 'died':
        this.#logger.error(
          { jobId, reason: result.message, attempt: job.attempts },
          'A worker died while rendering.',
        );
        return this.#attemptAgain(job, durationMs);
      case 'unavailable':
        this.#logger.warn({ jobId, reason: result.message }, 'No worker was able to begin; the job waits.');
        this.#beginNoneForNow();
        return this.#waitAgain(job, { counted: false });
      case 'stopped':
        if (result.reason === 'shutdown') {
          await this.#book.requeue(jobId, { counted: false });
          return;
        }
        return this.#finish(
          jobId,
          { kind: 'failed', error: result.reason === 'funds' ? CREDITS_RAN_OUT : 'Canceled' },
          { durationMs, storedNothing: true },
        );
    }
  }

  async #attemptAgain(job: JobRecord, durationMs: number, error: string = RENDERER_FAILED): Promise<void> {
    if (job.attempts >= MOST_ATTEMPTS) {
      return this.#finish(job.jobId, { kind: 'failed', error }, { durationMs });
    }
    await this.#waitAgain(job, { counted: true });
  }

  /** `missingBytes`: what has to be free for a further attempt, beside the spare room. */
  async #attemptWithRoom(job: JobRecord, durationMs: number, missingBytes: number): Promise<void> {
    this.#options.onNoRoom(job.attempts >= MOST_ATTEMPTS ? 1 : missingBytes);
    await this.#attemptAgain(job, durationMs, NO_ROOM);
  }

  async #waitAgain({ owner, jobId }: JobRecord, { counted }: { counted: boolean }): Promise<void> {
    const queued = await this.#persistently(() => this.#book.requeue(jobId, { counted }));
    if (!queued) return;
    this.#queue.addFirst(owner, jobId);
    this.#options.onChange(queued);
  }

  #beginNoneForNow(): void {
    clearTimeout(this.#hold);
    this.#hold = setTimeout(() => this.resumeBeginning(), this.#holdMs);
    this.#holdMs = Math.min(2 * this.#holdMs, HOLD_LONGEST_MS);
  }

  async #finish(jobId: string, outcome: JobOutcome, options: FinishOptions): Promise<void> {
    const job = await this.#persistently(() => this.#book.finish(jobId, outcome, options));
    if (job) this.#options.onChange(job);
  }

  /** Puts what a render left into the asset store and removes it from the work folder. */
  async #store(
    jobId: string,
    { files, folder }: Extract<RenderResult, { kind: 'rendered' }>,
  ): Promise<Artifact[]> {
    const artifacts: Artifact[] = [];
    try {
      for (const { name, path } of files) {
        const assetKey = assetKeyOf(jobId, name);
        const { sizeBytes } = await this.#assets.put(assetKey, { path, contentType: CONTENT_TYPES[name] });
        artifacts.push({ name, assetKey, sizeBytes });
      }
      return artifacts;
    } catch (error) {
      await this.#discard(artifacts.map(({ assetKey }) => assetKey));
      throw error;
    } finally {
      await discardFolder(folder, (problem) => this.#logger.warn({ jobId }, problem));
    }
  }

  /**
   * Repeats a step that must happen until it does: a full disk or a ledger that doesn't answer delays a job's end,
   * it doesn't change it. A stop gives up; recovery goes on after the next start.
   */
  async #persistently<T>(step: () => Promise<T>): Promise<T | undefined> {
    const { signal } = this.#stopSignal;
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(2 * waitMs, RETRY_LONGEST_MS)) {
      try {
        return await step();
      } catch (error) {
        this.#logger.error(
          { err: error, againInMs: waitMs },
          'A step could not be written down; trying again.',
        );
        const stopped = await delay(waitMs, false, { signal }).catch(() => true);
        if (stopped) return undefined;
      }
    }
  }
}

/** Waits for something, but no longer than that. */
async function within(ms: number, something: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([something, delay(ms, undefined, { signal: timer.signal }).catch(() => {})]);
  timer.abort();
}

async function totalSize(files: { path: string }[]): Promise<number> {
  const sizes = await Promise.all(files.map(async ({ path }) => (await stat(path)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function stopRender(running: RunningRender, reason: StopReason): void {
  running.stopReason ??= reason;
  running.render?.stop(running.stopReason);
}

/** A render that was to be stopped isn't attempted again because its worker died over it. */
function resultOf(result: RenderResult, stopReason: StopReason | undefined): RenderResult {
  const undecided = ['died', 'no_room', 'unavailable'].includes(result.kind);
  if (!undecided || !stopReason) return result;
  return { kind: 'stopped', durationMs: result.durationMs, reason: stopReason };
}
