import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../logger.ts';

const LOOK_MS = 1_000;
/** Most looks only read; every so many, something is written. */
const LOOKS_PER_WRITE = 10;
/** A file system that answers later than this hangs. */
const SILENCE_MS = 10_000;

/**
 * Looks every second whether the folder for renders in progress can be used. Without it every render would fail, and the
 * idle service would notice by its next sign of life, minutes later. Emits `change` when it can be used again, and when
 * it is another folder: what works in it must be tried.
 */
export class WorkFolderWatch extends EventEmitter<{ change: [] }> {
  readonly #check: (how: { write: boolean }) => Promise<boolean>;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #looks = 0;
  #looking: Promise<void> | undefined;
  #lookedAtMs = 0;
  /** Why renders can't be made in it, in words for the log; null while they can. */
  problem: string | null = null;

  constructor(options: {
    /** Sees whether it can be used; resolves with true when it is another one than before. */
    check: (how: { write: boolean }) => Promise<boolean>;
    logger: Logger;
  }) {
    super();
    this.#check = options.check;
    this.#logger = options.logger;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** Looks at once, by writing in it; resolves with whether it can be used. */
  async canBeUsed(): Promise<boolean> {
    await this.#looked();
    this.#look({ write: true });
    await this.#looked();
    return this.problem === null && !this.#hangs;
  }

  /** Resolves when it looks no more; a look that hangs isn't waited for. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (!this.#hangs) await this.#looking;
  }

  /** Resolves when the look in progress is over, or has taken so long that it hangs. */
  async #looked(): Promise<void> {
    if (this.#looking !== undefined)
      await Promise.race([this.#looking, delay(SILENCE_MS, undefined, { ref: false })]);
  }

  get #hangs(): boolean {
    return this.#looking !== undefined && performance.now() - this.#lookedAtMs > SILENCE_MS;
  }

  /** What was found broken is tried at each look. */
  #look({ write = this.problem !== null || ++this.#looks % LOOKS_PER_WRITE === 0 } = {}): void {
    if (this.#hangs) this.#fail('its file system does not answer');
    if (this.#looking !== undefined) return;
    this.#lookedAtMs = performance.now();
    this.#looking = this.#check({ write })
      .then(
        (isNew) => this.#pass(isNew),
        (error: Error) => this.#fail(error.message),
      )
      .finally(() => {
        this.#looking = undefined;
      });
  }

  #pass(isNew: boolean): void {
    if (!this.#timer || (this.problem === null && !isNew)) return;
    this.problem = null;
    this.#logger.warn({}, 'The work folder was lost; renders can be made in it again.');
    this.emit('change');
  }

  #fail(reason: string): void {
    if (!this.#timer) return;
    if (this.problem === null) this.#logger.error({ reason }, 'The work folder can’t be used.');
    this.problem = reason;
  }
}
