import { EventEmitter } from 'node:events';
import type { Clock } from '../../clock.ts';
import type { SpareRoom } from '../../data-folder/spare-room.ts';
import type { Logger } from '../../logger.ts';
import { discardFolder } from '../end/remove-folder.ts';
import type { WorkFolderWatch } from '../end/work-folder-watch.ts';
import type { RenderResult, RenderTask } from '../run/render-task.ts';
import { ownScene } from '../sandbox/sandbox.ts';
import type { Launcher } from '../start/launcher.ts';
import type { RenderPool } from './render-pool.ts';

/** How often it is looked whether a sign of life is due. */
const LOOK_MS = 1_000;
/** A renderer that doesn't render is asked again after so long, and then after longer: it costs a start each time. */
const AGAIN_FIRST_MS = 10_000;
const AGAIN_LONGEST_MS = 60_000;
/** The sign of life takes a fraction of a second; this is for machines that have something else to do. */
const TIMEOUT_MS = 60_000;
/** One process that was killed is no broken renderer. */
const TRIES = 2;

/**
 * Knows whether the renderer still renders. Every video that comes out shows that it does. When none has for a while,
 * or a renderer process died, a small scene of our own is rendered the way jobs are: only that one decides, because
 * scenes of clients must not be able to make the service look broken. Emits `recovered` when a broken renderer works
 * again.
 */
export class RendererWatch extends EventEmitter<{ recovered: [] }> {
  readonly #pool: RenderPool;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #idleMs: number;
  readonly #room: SpareRoom | undefined;
  readonly #place: WorkFolderWatch;
  readonly #code: string;
  #timer: NodeJS.Timeout | undefined;
  #lastRenderedMs = 0;
  #lastTriedMs = 0;
  #againMs = AGAIN_FIRST_MS;
  #doubtful = false;
  #trying: Promise<void> | undefined;
  #stop: () => void = () => {};
  /** Why nothing can be rendered, in words for the log; null while it can. */
  problem: string | null = null;

  /** `idleMs`: how long no video may come out before it is tried. */
  constructor(options: {
    pool: RenderPool;
    launcher: Launcher;
    clock: Clock;
    logger: Logger;
    idleMs: number;
    /** While the disk is full, or the work folder can't be used, a scene that fails says nothing about the renderer. */
    room: SpareRoom | undefined;
    place: WorkFolderWatch;
  }) {
    super();
    this.#pool = options.pool;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#idleMs = options.idleMs;
    this.#room = options.room;
    this.#place = options.place;
    this.#code = ownScene(options.launcher, 'sign_of_life.py');
  }

  /** Begins with a renderer that has just become warm. */
  start(): void {
    this.#lastRenderedMs = this.#clock.now();
    this.#pool.on('evidence', this.#note);
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#pool.off('evidence', this.#note);
    this.#stop();
    await this.#trying;
  }

  /** It is tried at the next look. */
  doubt(): void {
    this.#doubtful = true;
    this.#lastTriedMs = 0;
    this.#againMs = AGAIN_FIRST_MS;
  }

  readonly #note = (evidence: 'rendered' | 'died'): void => {
    if (evidence === 'died') {
      this.#doubtful = true;
      return;
    }
    this.#lastRenderedMs = this.#clock.now();
    this.#doubtful = false;
    this.#againMs = AGAIN_FIRST_MS;
    if (this.problem === null) return;
    this.problem = null;
    this.#logger.info({}, 'The renderer renders again.');
    this.emit('recovered');
  };

  #look(): void {
    if (this.#trying || this.#room?.isShort || this.#place.problem !== null || !this.#isDue()) return;
    this.#lastTriedMs = this.#clock.now();
    this.#trying = this.#try()
      .catch((error: unknown) => this.#logger.error({ err: error }, 'The renderer could not be tried.'))
      .finally(() => {
        this.#trying = undefined;
      });
  }

  #isDue(): boolean {
    const now = this.#clock.now();
    // A clock that was set back must not put a trial off for as long.
    this.#lastRenderedMs = Math.min(this.#lastRenderedMs, now);
    this.#lastTriedMs = Math.min(this.#lastTriedMs, now);
    if (this.problem !== null && !this.#doubtful) return now - this.#lastTriedMs >= this.#againMs;
    // While all workers are busy, nothing is idle; in doubt the next one that gets free is taken.
    return this.#doubtful || (now - this.#lastRenderedMs >= this.#idleMs && this.#pool.hasIdleWorker);
  }

  async #try(): Promise<void> {
    this.#doubtful = false;
    let reason = '';
    for (let tries = 0; tries < TRIES; tries++) {
      const result = await this.#signOfLife();
      if (!this.#timer || result.kind === 'rendered') return;
      reason = reasonOf(result);
    }
    if (!(await this.#place.canBeUsed()) || !this.#timer) return;
    if (this.problem === null) this.#logger.error({ reason }, 'The renderer does not render any more.');
    else this.#againMs = Math.min(2 * this.#againMs, AGAIN_LONGEST_MS);
    this.problem = reason;
    this.#doubtful = false;
  }

  async #signOfLife(): Promise<RenderResult> {
    const task: Omit<RenderTask, 'port'> = {
      jobId: 'sign-of-life',
      code: this.#code,
      className: 'SignOfLife',
      widthPx: 64,
      heightPx: 36,
      fps: 1,
      previewIntervalMs: 0,
      background: false,
    };
    let timer: NodeJS.Timeout | undefined;
    const render = this.#pool.render(task, {
      onStarted: () => {
        timer = setTimeout(() => render.stop('worthless'), TIMEOUT_MS);
      },
      onProgress: () => {},
      onPreview: () => {},
    });
    this.#stop = () => render.stop('shutdown');
    const result = await render.result.finally(() => clearTimeout(timer));
    if (result.kind === 'rendered') {
      await discardFolder(result.folder, (problem) => this.#logger.warn({}, problem));
    }
    return result;
  }
}

function reasonOf(result: Exclude<RenderResult, { kind: 'rendered' }>): string {
  switch (result.kind) {
    case 'failed':
      return result.error;
    case 'died':
    case 'unavailable':
    case 'interrupted':
      return result.message;
    case 'no_room':
      return 'the disk that it writes to is full';
    case 'stopped':
      return `it took longer than ${TIMEOUT_MS / 1000} seconds`;
  }
}
