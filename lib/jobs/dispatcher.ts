import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { AssetStore } from '../assets/asset-store.ts';
import { ScenepressError } from '../errors.ts';
import { timeOfId } from '../ids.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Pricing } from '../ledger/pricing.ts';
import type { Logger } from '../logger.ts';
import type { PooledRender, RenderPool } from '../render/render-pool.ts';
import type { RenderProgress, RenderResult, StopReason } from '../render/render-task.ts';
import type { Storage } from '../storage/storage.ts';
import { type AttemptEnd, endOfAttempt, endOfFailure, outcomeOfStop, resultOf } from './attempt.ts';
import { BeginHold } from './begin-hold.ts';
import { MOST_ATTEMPTS } from './failures.ts';
import type { JobOutcome, JobRecord, WaitingJob } from './job.ts';
import type { FinishOptions, JobBook } from './job-book.ts';
import { persistently } from './persistently.ts';
import { sizeOf } from './qualities.ts';
import { discardArtifacts } from './store-artifacts.ts';
import { WaitingJobs } from './waiting-jobs.ts';
import { watchFunds } from './watch-funds.ts';

/** How many jobs may wait and run. */
export interface QueueOptions {
  /**
   * Jobs that may wait, of all owners together. Default 10,000. Beyond it, an owner with less than an equal share of
   * them may still add some, so that others can't take all places.
   */
  maxQueued: number;
  /** Jobs of one owner that may wait. Default 1,000. */
  maxQueuedPerOwner: number;
  /** Renders of one owner at the same time. Default: as many as there are workers. */
  maxRunningPerOwner: number;
  /**
   * Of several workers, so many render only for owners in good standing: the renders of theirs that completed within
   * 24 hours took at least as long as those that failed by their scenes or were canceled. So an owner whose scenes never
   * end can't keep all workers from the others. One worker always serves everybody. Default 0. Where the processor is
   * short, renders of other owners also get a third of the share that those of owners in good standing get.
   */
  reservedWorkers: number;
}

export const DEFAULT_QUEUE: QueueOptions = {
  maxQueued: 10_000,
  maxQueuedPerOwner: 1_000,
  maxRunningPerOwner: Number.POSITIVE_INFINITY,
  reservedWorkers: 0,
};

interface RunningRender {
  owner: string;
  isSuspect: boolean;
  /** Of the owner, when the render began. */
  inGoodStanding: boolean;
  /** Undefined until the attempt is written down and its source read. */
  render: PooledRender | undefined;
  /** Why it is to end; the first reason counts. Outlives a worker that dies before it hears of it. */
  stopReason: StopReason | undefined;
  progress: RenderProgress | undefined;
  /** Resolves when the attempt is written down. */
  ended: Promise<void>;
}

/** A stop waits so long for what is still to be removed. */
const DISCARD_GRACE_MS = 5_000;

/**
 * A renderer that dies by a stop of the whole service (Ctrl-C goes to all processes of a terminal) may be gone before
 * the service has been told to stop: so long is waited for that.
 */
const STOP_HEARD_MS = 100;

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
  /** True for owners whose jobs wait while others' do. Default: none. */
  yields?: (owner: string) => boolean;
  /** True for owners who may use the reserved workers, and whose renders aren't in the background. Default: all. */
  inGoodStanding?: (owner: string) => boolean;
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
  readonly #logger: Logger;
  readonly #options: DispatcherOptions;
  #pool: RenderPool | undefined;
  #queue = new WaitingJobs(() => this.dispatch());
  #paused = false;
  readonly #hold = new BeginHold(() => this.resumeBeginning());
  readonly #running = new Map<string, RunningRender>();
  readonly #discards = new Set<Promise<void>>();
  /** Aborted when a stop begins. */
  #stopping = new AbortController();
  /** Aborted when a stop ends what still runs. */
  #stopSignal = new AbortController();

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#book = options.book;
    this.#storage = options.storage;
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

  /** Jobs wait because the machine, or the service's share of it, is short of something. */
  get isShortage(): boolean {
    return this.#hold.isShortage;
  }

  /**
   * Begins with the jobs that wait, on a pool that is warm; when `paused`, only after {@link unpause}. Without a pool
   * they are only counted.
   */
  start(pool: RenderPool | undefined, waiting: WaitingJob[], { paused }: { paused: boolean }): void {
    this.#paused = paused;
    this.#stopping = new AbortController();
    this.#queue = new WaitingJobs(() => this.dispatch());
    for (const job of waiting) this.#queue.add(job);
    this.#pool = pool;
    this.dispatch();
  }

  /** Begins no more attempts; running ones may go on for `graceMs`, then they are ended and their jobs wait again. */
  async stop(graceMs: number): Promise<void> {
    this.#pool = undefined;
    this.#stopping.abort();
    this.#queue.stop();
    this.#hold.end();
    this.#hold.reset();
    const ended = () => Promise.all([...this.#running.values()].map((running) => running.ended));
    if (graceMs > 0) await within(graceMs, ended());
    this.#stopSignal.abort();
    for (const running of this.#running.values()) stopRender(running, 'shutdown');
    await ended();
    // Attempts that ended meanwhile may have started them again; they would keep the process running.
    this.#queue.stop();
    this.#hold.end();
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
    const waiting = this.#queue.sizeOf(owner);
    const share = Math.floor(maxQueued / (this.#queue.owners + (waiting === 0 ? 1 : 0)));
    const isFull = this.#queue.size >= maxQueued && waiting >= share;
    if (!isFull && waiting < maxQueuedPerOwner) return;
    throw new ScenepressError('queue_full', 'As many jobs wait as may. Try again later.');
  }

  add(job: JobRecord): void {
    this.#queue.add(job);
    this.dispatch();
  }

  /**
   * Ends a job that waits, or the attempt at it that is under way, whose end is not waited for. When it rejects, the
   * job goes on as if nobody had asked.
   */
  async cancel(job: JobRecord): Promise<void> {
    const { owner, jobId } = job;
    const waited = this.#queue.remove(owner, jobId);
    // What is written down as running and isn't, was left by a service that was killed.
    const only = this.#running.has(jobId) ? ({ only: 'queued' } as const) : {};
    try {
      const ended = await this.#book.finish(jobId, outcomeOfStop('canceled'), { durationMs: 0, ...only });
      if (ended) return this.#options.onChange(ended);
    } catch (error) {
      // Once it is written down that it ends, it does, however long the ledger takes to answer.
      if ((await this.#storage.getJob(jobId))?.phase === 'settling') return void this.resume(jobId);
      if (waited) this.#queue.putBack(job);
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
    const { assets, logger } = this.#options;
    const discard = discardArtifacts(assetKeys, { assets, logger }).finally(() =>
      this.#discards.delete(discard),
    );
    this.#discards.add(discard);
  }

  /** How far a running job is. */
  progress(jobId: string): RenderProgress | undefined {
    return this.#running.get(jobId)?.progress;
  }

  /** To be called when workers are able to begin again. */
  resumeBeginning(): void {
    this.#hold.end();
    // Without a waiting job, no attempt would show that a shortage is over.
    if (this.#queue.size === 0) this.#hold.reset();
    this.dispatch();
  }

  /** Gives jobs that wait to workers that are free. */
  dispatch(): void {
    const pool = this.#pool;
    if (!pool || this.#paused || this.#hold.active || !this.#options.mayBegin()) return;
    while (this.#running.size < pool.size) {
      const next = this.#queue.take({
        mayHaveTurn: (owner) => this.#mayRunMoreOf(owner, pool.size),
        yields: (owner) => this.#options.yields?.(owner) ?? false,
        mayTakeSuspect: ![...this.#running.values()].some(({ isSuspect }) => isSuspect),
      });
      if (!next) return;
      const { owner, jobId, isSuspect } = next;
      const running: RunningRender = {
        owner,
        isSuspect,
        inGoodStanding: this.#inGoodStanding(owner),
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

  #mayRunMoreOf(owner: string, workers: number): boolean {
    const { maxRunningPerOwner, reservedWorkers } = this.#options.queue;
    const running = [...this.#running.values()];
    if (running.filter((render) => render.owner === owner).length >= maxRunningPerOwner) return false;
    if (this.#inGoodStanding(owner)) return true;
    const open = Math.max(1, workers - reservedWorkers);
    return running.filter(({ inGoodStanding }) => !inGoodStanding).length < open;
  }

  #inGoodStanding(owner: string): boolean {
    return this.#options.inGoodStanding?.(owner) ?? true;
  }

  /** One try of a worker at a job, from `running` to what comes after it. */
  async #attempt(jobId: string, running: RunningRender, pool: RenderPool): Promise<void> {
    const job = await this.#persistently(() => this.#book.begin(jobId));
    if (!job) return;
    const end = await this.#endOf(job, running, pool).catch((error: Error) =>
      endOfFailure(job, error, this.#logger),
    );
    try {
      await this.#conclude(job, running, end);
    } catch (error) {
      // Whatever a store, a ledger or a listener throws: no job is left running without a render.
      this.#logger.error({ err: error, jobId }, 'The end of an attempt could not be carried out.');
      await this.#waitAgain(job, running, { counted: false, interrupted: true });
    }
  }

  async #endOf(job: JobRecord, running: RunningRender, pool: RenderPool): Promise<AttemptEnd> {
    this.#options.onChange(job);
    const result = await this.#render(job, running, pool);
    if (result.kind === 'died' && (await this.#isStopping())) {
      return { next: 'wait', reason: result.message };
    }
    return endOfAttempt(job, resultOf(result, running.stopReason), this.#options);
  }

  async #isStopping(): Promise<boolean> {
    const { signal } = this.#stopping;
    await delay(STOP_HEARD_MS, undefined, { signal }).catch(() => {});
    return signal.aborted;
  }

  async #render(job: JobRecord, running: RunningRender, pool: RenderPool): Promise<RenderResult> {
    const { jobId, className, quality, aspectRatio, fps } = job;
    const code = await this.#storage.readSource(jobId);
    assert(code !== undefined, 'a job has its source');
    let unwatch = () => {};
    const render = pool.render(
      {
        jobId,
        code,
        className,
        fps,
        ...sizeOf(quality, aspectRatio),
        previewIntervalMs: this.#options.previewIntervalMs,
        background: !running.inGoodStanding,
      },
      {
        onStarted: () => {
          unwatch = watchFunds(job, this.#options, () => stopRender(running, 'funds'));
        },
        onProgress: ({ type: _, ...progress }) => {
          this.#hold.attemptGoesOn();
          running.progress = progress;
          this.#options.onProgress(jobId, progress);
        },
        onPreview: (jpeg) => this.#options.onPreview(jobId, jpeg),
      },
    );
    running.render = render;
    if (this.#stopSignal.signal.aborted) running.stopReason ??= 'shutdown';
    if (running.stopReason) render.stop(running.stopReason);
    return render.result.finally(() => unwatch());
  }

  async #conclude(job: JobRecord, running: RunningRender, end: AttemptEnd): Promise<void> {
    const { jobId, attempts } = job;
    if (end.next === 'leave') {
      await this.#book.requeue(jobId, { counted: false });
      return;
    }
    if (end.next === 'wait') {
      if (end.hold) this.#beginNoneForNow(jobId, end.hold, end.reason);
      return this.#waitAgain(job, running, { counted: false, interrupted: end.interrupted ?? false });
    }
    this.#hold.reset();
    if (end.next === 'finish') return this.#finish(jobId, end.outcome, end.options);
    const { error, durationMs } = end;
    if (attempts < MOST_ATTEMPTS) return this.#waitAgain(job, running, { counted: true });
    return this.#finish(jobId, { kind: 'failed', error, failedBy: 'service' }, { durationMs });
  }

  async #waitAgain(
    { jobId }: JobRecord,
    running: RunningRender,
    how: { counted: boolean; interrupted?: boolean },
  ): Promise<void> {
    const queued = await this.#persistently(() => this.#book.requeue(jobId, how));
    if (!queued) return;
    // It may have been canceled while that was written down.
    const { stopReason } = running;
    if (stopReason && stopReason !== 'shutdown') {
      return this.#finish(jobId, outcomeOfStop(stopReason), { durationMs: 0 });
    }
    this.#queue.putBack(queued);
    this.#options.onChange(queued);
  }

  #beginNoneForNow(jobId: string, lack: 'renderer' | 'shortage', reason: string): void {
    const againInMs = this.#hold.begin({ isShortage: lack === 'shortage' });
    const message =
      lack === 'shortage'
        ? 'The machine, or a store, lacks what a render needs; the job waits.'
        : 'No worker was able to begin; the job waits.';
    this.#logger.warn({ jobId, reason, againInMs }, message);
  }

  async #finish(jobId: string, outcome: JobOutcome, options: FinishOptions): Promise<void> {
    const job = await this.#persistently(() => this.#book.finish(jobId, outcome, options));
    if (job) this.#options.onChange(job);
  }

  #persistently<T>(step: () => Promise<T>): Promise<T | undefined> {
    return persistently(step, { signal: this.#stopSignal.signal, logger: this.#logger });
  }
}

/** Waits for something, but no longer than that. */
async function within(ms: number, something: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([something, delay(ms, undefined, { signal: timer.signal }).catch(() => {})]);
  timer.abort();
}

function stopRender(running: RunningRender, reason: StopReason): void {
  running.stopReason ??= reason;
  running.render?.stop(running.stopReason);
}
