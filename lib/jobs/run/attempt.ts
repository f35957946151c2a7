import assert from 'node:assert/strict';
import { isOutOfSpace } from '../../files/disk.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { MOST_ATTEMPTS, RECORDING_FAILED } from '../../model/failures.ts';
import { assetKeysOf, type JobOutcome, type JobRecord, storedKeysOf } from '../../model/job.ts';
import type { JobEvents } from '../../model/job-events.ts';
import { frameSizeOf } from '../../model/qualities.ts';
import type {
  RenderProgress,
  RenderResult,
  RenderTask,
  SceneFailure,
  StopReason,
} from '../../model/render-task.ts';
import { isLeftOut, LEFT_OUT } from '../../owner-files/file-sets.ts';
import type { FileTrees } from '../../owner-files/file-trees.ts';
import type { PooledRender } from '../../render/pool/render-pool.ts';
import type { Renderer } from '../../render/pool/renderer.ts';
import type { TexInstallation } from '../../render/tex/tex-installation.ts';
import type { Claim } from '../../storage/queue/queue.ts';
import { isSuspect } from '../../storage/queue/suspects.ts';
import type { Storage } from '../../storage/storage.ts';
import { retry } from '../../time/backoff.ts';
import { type Clock, delay } from '../../time/clock.ts';
import { AttemptSpans } from '../../tracing/attempt-spans.ts';
import {
  type AttemptEnd,
  type AttemptEndParts,
  endOfAttempt,
  endOfFailure,
  resultOf,
} from '../end/attempt-end.ts';
import type { Cancellations } from '../end/cancellations.ts';
import type { Discards } from '../end/discards.ts';
import type { FinishOptions, JobEnding } from '../end/job-ending.ts';
import type { ClaimedJob, JobClaims } from './job-claims.ts';
import type { StartHold } from './start-hold.ts';
import { watchFunds } from './watch-funds.ts';

/**
 * How long to wait for a stop signal after a renderer died: Ctrl-C goes to all processes of a terminal and may kill
 * the renderer before the service handles it.
 */
const STOP_HEARD_MS = 100;

export interface AttemptOptions extends AttemptEndParts {
  ending: Pick<JobEnding, 'finish'>;
  claims: JobClaims;
  cancellations: Pick<Cancellations, 'complete'>;
  storage: Storage;
  ledger: Ledger;
  hold: StartHold;
  clock: Clock;
  discards: Discards;
  /** The folders of files; undefined: without a work folder. */
  trees?: Pick<FileTrees, 'take'> | undefined;
  previewIntervalMs: number;
  /** Whether the owner was in good standing when the job was claimed. */
  inGoodStanding: boolean;
  /** The TeX of the machine, if it may change. */
  tex?: TexInstallation | undefined;
  /** Called when the attempt needs its worker no more, but has not ended. */
  onIdle?: () => void;
  /** Aborted when a stop begins. */
  stopping: AbortSignal;
  /** Aborted when a stop ends the running attempts. */
  stopped: AbortSignal;
  events: JobEvents;
}

/** The part of {@link Renderer} that attempts use. */
export type Renders = Pick<Renderer, 'size' | 'render'>;

/**
 * One attempt of a worker at a claimed job, from `running` to the next phase. Its writes are fenced by the claim:
 * once that is invalid, the attempt changes nothing and removes the artifacts it stored.
 */
export class Attempt {
  readonly claim: Claim;
  readonly isSuspect: boolean;
  readonly #job: JobRecord;
  readonly #options: AttemptOptions;
  readonly #spans: AttemptSpans;
  /** Undefined until the source is read. */
  #render: PooledRender | undefined;
  /** Why it must stop; the first reason counts. Kept here because the worker may die before it receives it. */
  #stopReason: StopReason | undefined;
  #progress: RenderProgress | undefined;
  /** Aborted when it must stop. */
  readonly #stop = new AbortController();
  #isIdle = false;
  /** It got no files, since its owner had too many. */
  #isLeftOut = false;
  #ended: Promise<void> = Promise.resolve();

  constructor({ job, claim }: ClaimedJob, options: AttemptOptions) {
    this.#job = job;
    this.claim = claim;
    this.isSuspect = isSuspect(claim);
    this.#options = options;
    this.#spans = new AttemptSpans(job, options.clock);
  }

  /** How long its render has taken so far. */
  get runningMs(): number {
    return this.#render?.workedMs() ?? 0;
  }

  get progress(): RenderProgress | undefined {
    return this.#progress;
  }

  /** It waits for something, without a worker. */
  get isIdle(): boolean {
    return this.#isIdle;
  }

  /** Resolves when its result is committed. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Resolves when the attempt has ended, as {@link ended}. */
  begin(renderer: Renders): Promise<void> {
    const { logger } = this.#options;
    const { jobId } = this.claim;
    this.#ended = this.#run(renderer).catch((error: unknown) =>
      logger.error({ err: error, jobId }, 'An attempt ended unexpectedly.'),
    );
    return this.#ended;
  }

  stop(reason: StopReason): void {
    this.#stopReason ??= reason;
    this.#stop.abort();
    this.#render?.stop(this.#stopReason);
  }

  async #run(renderer: Renders): Promise<void> {
    const { logger } = this.#options;
    const end = await this.#endOf(renderer).catch((error: Error) => endOfFailure(this.#job, error, logger));
    this.#spans.ended(end);
    try {
      await this.#conclude(end);
    } catch (error) {
      // Requeued on any error, so no job stays `running` without a render.
      logger.error({ err: error, jobId: this.claim.jobId }, 'Recording the end of an attempt failed.');
      await this.#waitAgain({ interrupted: true });
    }
  }

  async #endOf(renderer: Renders): Promise<AttemptEnd> {
    this.#options.events.emit('change', this.#job);
    const { tex } = this.#options;
    const changesBefore = tex?.changes ?? 0;
    const result = await this.#rendered(renderer, { isTexHeld: tex?.state === 'changing' });
    this.#spans.rendered(result);
    const isOfTex = tex && result.kind === 'failed' && result.failedBy === 'tex';
    if (isOfTex && tex.mayHaveFailed(changesBefore)) return this.#waitForTex(tex);
    if (isOfTex) result.error = tex.explained(result.error);
    if (this.#isLeftOut && result.kind === 'failed' && mayLackFile(result)) result.error += `\n${LEFT_OUT}`;
    if ((result.kind === 'died' || result.kind === 'killed') && (await this.#isStopping()))
      return { next: 'wait', reason: 'the service stops' };
    const claimed = { job: this.#job, claim: this.claim };
    return endOfAttempt(claimed, resultOf(result, this.#stopReason), this.#options);
  }

  /** Keeps its claim meanwhile: a job that was put back would be claimed again at once. */
  async #waitForTex(tex: TexInstallation): Promise<AttemptEnd> {
    const { logger, stopping, stopped, onIdle = () => {} } = this.#options;
    logger.info({ jobId: this.claim.jobId }, 'TeX packages are being installed; the job waits for that.');
    this.#isIdle = true;
    onIdle();
    await tex.settled(AbortSignal.any([stopping, stopped, this.#stop.signal]));
    const reason = 'TeX packages were being installed';
    if (this.#stopReason === undefined) return { next: 'wait', reason };
    const result: RenderResult = { kind: 'stopped', durationMs: 0, reason: this.#stopReason };
    return endOfAttempt({ job: this.#job, claim: this.claim }, result, this.#options);
  }

  async #isStopping(): Promise<boolean> {
    const { clock, stopping: signal } = this.#options;
    return !(await delay(clock, STOP_HEARD_MS, signal));
  }

  async #rendered(renderer: Renders, how: { isTexHeld: boolean }): Promise<RenderResult> {
    const { storage, indexes, trees } = this.#options;
    const claimed = { job: this.#job, claim: this.claim };
    const code = await storage.readSource(this.#job.jobId);
    assert(code !== undefined, 'a job has its source');
    const files = await storage.files.usedBy(this.#job.jobId);
    this.#isLeftOut = isLeftOut(files);
    const tree = files && !this.#isLeftOut ? await trees?.take(files).catch(onlyIfFull) : undefined;
    if (tree === 'full') return { kind: 'disk_full', durationMs: 0 };
    try {
      const ofIndexes = await indexes?.taskOf(claimed, this.#stop.signal);
      const ofFiles = tree && { files: tree.path };
      return await this.#renderedBy(renderer, { code, ...ofIndexes, ...ofFiles, ...(how.isTexHeld && how) });
    } finally {
      tree?.release();
      await indexes?.release(claimed);
    }
  }

  #renderedBy(
    renderer: Renders,
    given: Pick<RenderTask, 'code' | 'isIndexed' | 'earlier' | 'isTexHeld' | 'files'>,
  ): Promise<RenderResult> {
    const { jobId, className, quality, aspectRatio, fps, seed, params, audio, formats, selection } =
      this.#job;
    const { hold, previewIntervalMs, stopped, events } = this.#options;
    let unwatch = () => {};
    const render = renderer.render(
      {
        ...given,
        jobId,
        className,
        fps,
        ...(seed !== null && { seed }),
        ...(params !== null && { params }),
        ...(audio !== null && { audio }),
        ...(formats !== null && { formats }),
        ...(selection !== null && { selection }),
        ...frameSizeOf(quality, aspectRatio),
        previewIntervalMs,
        background: !this.#options.inGoodStanding,
      },
      {
        onStarted: () => {
          this.#spans.started();
          unwatch = watchFunds(this.#job, this.#options, {
            workedMs: () => render.workedMs(),
            onRanOut: () => this.stop('funds'),
          });
        },
        onProgress: ({ type: _, ...progress }) => {
          hold.noteProgress();
          this.#progress = progress;
          events.emit('progress', jobId, progress);
        },
        onPreview: (jpeg) => void events.emit('preview', jobId, jpeg),
      },
    );
    this.#render = render;
    if (stopped.aborted) this.#stopReason ??= 'shutdown';
    if (this.#stopReason) render.stop(this.#stopReason);
    return render.result.finally(() => unwatch());
  }

  async #conclude(end: AttemptEnd): Promise<void> {
    const { hold } = this.#options;
    // No case for `nothing`.
    switch (end.next) {
      case 'leave':
        await this.#options.claims.requeue(this.claim);
        return;
      case 'wait':
        if (end.hold) this.#pauseStarts(end.hold, end.reason);
        return this.#waitAgain({ interrupted: end.interrupted ?? false });
      case 'finish':
        hold.reset();
        return this.#finish(end.outcome, end.options);
      case 'count': {
        hold.reset();
        const { error, failedBy = 'service', diagnosis, durationMs, details } = end;
        if (this.#job.attempts < MOST_ATTEMPTS) return this.#waitAgain({ counted: true });
        const outcome: JobOutcome = { kind: 'failed', error, failedBy, ...(diagnosis && { diagnosis }) };
        return this.#finish(outcome, { durationMs, ...details });
      }
    }
  }

  async #waitAgain(how: { counted?: boolean; interrupted?: boolean }): Promise<void> {
    const queued = await this.#retry(() => this.#options.claims.requeue(this.claim, how));
    if (queued) this.#options.events.emit('change', queued);
  }

  #pauseStarts(lack: 'renderer' | 'shortage', reason: string): void {
    const { hold, logger } = this.#options;
    const againInMs = hold.begin({ isShortage: lack === 'shortage' });
    const message =
      lack === 'shortage'
        ? 'A resource for the render, or a store, is unavailable; the job waits.'
        : 'No worker could start the render; the job waits.';
    logger.warn({ jobId: this.claim.jobId, reason, againInMs }, message);
  }

  async #finish(outcome: JobOutcome, options: FinishOptions): Promise<void> {
    const { ending, discards } = this.#options;
    // Distinct from undefined, the result of a stop, after which the outcome may have been committed.
    const ended = await this.#retry(async () => {
      try {
        return (await ending.finish(this.claim, outcome, options)) ?? 'refused';
      } catch (error) {
        if (await this.#isSettling()) return 'settling';
        throw error;
      }
    });
    if (ended === 'refused') return this.#refused(outcome);
    if (ended === 'settling') return this.#settleLater();
    if (!ended) return;
    discards.add(ended.orphans);
    this.#announce(ended.job);
  }

  async #isSettling(): Promise<boolean> {
    return (await this.#options.storage.getJob(this.claim.jobId))?.phase === 'settling';
  }

  /** The outcome is committed, so the worker need not wait until an external ledger answers. */
  #settleLater(): void {
    const { cancellations } = this.#options;
    void cancellations.complete(this.claim.jobId).then((ended) => ended && this.#log(ended));
  }

  /**
   * The claim is invalid, or the outcome is recorded already: by a commit whose answer was lost, or by another process
   * after this one had recorded the intent.
   */
  async #refused(outcome: JobOutcome): Promise<void> {
    const { storage, discards } = this.#options;
    const job = await this.#retry(() => storage.getJob(this.claim.jobId));
    if (!job) return; // Stopped: the artifacts may be those of the job.
    const keys = outcome.kind === 'completed' ? assetKeysOf(this.claim, this.#job.formats) : [];
    const kept = new Set(storedKeysOf(job));
    discards.add(keys.filter((key) => !kept.has(key)));
    const isRecorded =
      outcome.kind === 'completed'
        ? keys.some((key) => kept.has(key))
        : job.phase === 'failed' && job.error === outcome.error;
    if (isRecorded) this.#announce(job);
  }

  #announce(ended: JobRecord): void {
    this.#log(ended);
    this.#options.events.emit('change', ended);
  }

  /** Flat, because text logs omit nested values. */
  #log({ jobId, phase: status, failedBy, quality, durationMs, usage }: JobRecord): void {
    const { workMs = {}, peakMemoryBytes = null, copiedFrames = 0 } = usage ?? {};
    const times = Object.fromEntries(Object.entries(workMs).map(([work, ms]) => [`${work}Ms`, ms]));
    const cause = failedBy === undefined ? {} : { failedBy };
    this.#options.logger.info(
      { jobId, status, ...cause, quality, durationMs, ...times, peakMemoryBytes, copiedFrames },
      'job',
    );
  }

  #retry<T>(step: () => Promise<T>): Promise<T | undefined> {
    const { clock, stopped: signal, logger } = this.#options;
    return retry(step, { clock, signal, logger, failed: RECORDING_FAILED });
  }
}

function onlyIfFull(error: unknown): 'full' {
  if (isOutOfSpace(error)) return 'full';
  throw error;
}

/** Whether a scene may have failed because a file or a module was not there. */
function mayLackFile({ failedBy, finding }: SceneFailure): boolean {
  return failedBy === 'scene' && (!finding || ['scene:file', 'scene:import'].includes(finding.kind));
}
