import { EventEmitter } from 'node:events';
import type { Logger } from '../../base/logger.ts';
import type { SpareSpace } from '../../files/spare-space.ts';
import type { RenderResult, RenderTask } from '../../model/render-task.ts';
import { Backoff } from '../../time/backoff.ts';
import type { Clock, Timer } from '../../time/clock.ts';
import { discardFolder } from '../end/remove-folder.ts';
import type { WorkFolderWatch } from '../end/work-folder-watch.ts';
import type { RenderPool } from './render-pool.ts';

/** Interval of checks whether a probe is due. */
const LOOK_MS = 1_000;
/** Backoff for probing a broken renderer, each of which starts a process. */
const AGAIN_FIRST_MS = 10_000;
const AGAIN_LONGEST_MS = 60_000;
/** A probe takes a fraction of a second; the rest is for busy machines. */
const TIMEOUT_MS = 60_000;
/** Attempts per probe: a single killed process does not mean a broken renderer. */
const TRIES = 2;

/**
 * Monitors whether the renderer works. Every finished video proves it. Without one for a while, or after a renderer
 * process died, a small probe scene is rendered like a job. Only the probe can fail the check, so scenes of clients
 * cannot make the service look broken. Emits `recovered` when a broken renderer works again.
 */
export class RendererWatch extends EventEmitter<{ recovered: [] }> {
  readonly #pool: RenderPool;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #idleMs: number;
  readonly #spareSpace: Pick<SpareSpace, 'check' | 'isShort'> | undefined;
  readonly #place: WorkFolderWatch;
  readonly #code: string;
  #timer: Timer | undefined;
  #lastRenderedMs = 0;
  #lastTriedMs = 0;
  readonly #backoff = new Backoff(AGAIN_FIRST_MS, AGAIN_LONGEST_MS);
  #isProbeRequested = false;
  #trying: Promise<void> | undefined;
  #stop: () => void = () => {};
  /** The problem, for the log; null while the renderer works. */
  problem: string | null = null;

  /** `idleMs`: milliseconds without a finished video before a probe. */
  constructor(options: {
    pool: RenderPool;
    /** The source of the probe scene. */
    probe: string;
    clock: Clock;
    logger: Logger;
    idleMs: number;
    /** With a full disk or an unusable work folder, a failed probe does not mean that the renderer is broken. */
    spareSpace: Pick<SpareSpace, 'check' | 'isShort'> | undefined;
    place: WorkFolderWatch;
  }) {
    super();
    this.#pool = options.pool;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#idleMs = options.idleMs;
    this.#spareSpace = options.spareSpace;
    this.#place = options.place;
    this.#code = options.probe;
  }

  /** Starts monitoring a renderer that just became warm. */
  start(): void {
    this.#lastRenderedMs = this.#clock.now();
    this.#pool.on('result', this.#note);
    this.#timer = this.#clock.every(LOOK_MS, () => this.#look());
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#pool.off('result', this.#note);
    this.#stop();
    await this.#trying;
  }

  /** Requests a probe at the next check. */
  requestProbe(): void {
    this.#isProbeRequested = true;
    this.#lastTriedMs = 0;
    this.#backoff.reset();
  }

  readonly #note = (result: 'rendered' | 'died'): void => {
    if (result === 'died') {
      this.#isProbeRequested = true;
      return;
    }
    this.#lastRenderedMs = this.#clock.now();
    this.#isProbeRequested = false;
    this.#backoff.reset();
    if (this.problem === null) return;
    this.problem = null;
    this.#logger.info({}, 'The renderer works again.');
    this.emit('recovered');
  };

  #look(): void {
    if (this.#trying || this.#spareSpace?.isShort || this.#place.problem !== null || !this.#isDue()) return;
    this.#lastTriedMs = this.#clock.now();
    this.#trying = this.#try()
      .catch((error: unknown) => this.#logger.error({ err: error }, 'Probing the renderer failed.'))
      .finally(() => {
        this.#trying = undefined;
      });
  }

  #isDue(): boolean {
    const now = this.#clock.now();
    // After the clock was set back, probes must not be delayed by the difference.
    this.#lastRenderedMs = Math.min(this.#lastRenderedMs, now);
    this.#lastTriedMs = Math.min(this.#lastTriedMs, now);
    if (this.problem !== null && !this.#isProbeRequested)
      return now - this.#lastTriedMs >= this.#backoff.nextMs;
    // A requested probe takes the next free worker; others need an idle one.
    return this.#isProbeRequested || (now - this.#lastRenderedMs >= this.#idleMs && this.#pool.hasIdleWorker);
  }

  async #try(): Promise<void> {
    this.#isProbeRequested = false;
    let reason = '';
    for (let tries = 0; tries < TRIES; tries++) {
      const result = await this.#probe();
      if (!this.#timer || result.kind === 'rendered') return;
      if (result.kind === 'disk_full') await this.#spareSpace?.check();
      if (this.#spareSpace?.isShort) return;
      reason = reasonOf(result);
    }
    if (!(await this.#place.canBeUsed()) || !this.#timer) return;
    if (this.problem === null) this.#logger.error({ reason }, 'The renderer has stopped working.');
    else this.#backoff.next();
    this.problem = reason;
    this.#isProbeRequested = false;
  }

  async #probe(): Promise<RenderResult> {
    const task: Omit<RenderTask, 'port'> = {
      jobId: 'probe',
      code: this.#code,
      className: 'Probe',
      widthPx: 64,
      heightPx: 36,
      fps: 1,
      previewIntervalMs: 0,
      background: false,
    };
    let timer: Timer | undefined;
    const render = this.#pool.render(task, {
      onStarted: () => {
        timer = this.#clock.after(TIMEOUT_MS, () => render.stop('canceled'));
      },
      onProgress: () => {},
      onPreview: () => {},
    });
    this.#stop = () => render.stop('shutdown');
    const result = await render.result.finally(() => timer?.cancel());
    if (result.kind === 'rendered') {
      await discardFolder(result.folder, (problem) => this.#logger.warn({}, problem));
    }
    return result;
  }
}

function reasonOf(result: Exclude<RenderResult, { kind: 'rendered' }>): string {
  switch (result.kind) {
    case 'failed':
    case 'killed':
      return result.error;
    case 'died':
    case 'unavailable':
    case 'interrupted':
      return result.message;
    case 'disk_full':
      return 'the disk that it writes to is full';
    case 'stopped':
      return `it took longer than ${TIMEOUT_MS / 1000} seconds`;
  }
}
