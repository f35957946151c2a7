import { EventEmitter } from 'node:events';
import type { Logger } from '../../base/logger.ts';
import type { Clock, Timer } from '../../time/clock.ts';
import { within } from '../../time/within.ts';

const LOOK_MS = 1_000;
/** Most checks only read; one in this many also writes. */
const LOOKS_PER_WRITE = 10;
/** Time-out after which a file system counts as hung. */
const SILENCE_MS = 10_000;

/**
 * Checks every second whether the work folder is usable. Otherwise every render would fail, and an idle service would
 * notice only at its next probe, minutes later. Emits `change` when the folder is usable again or was replaced, so
 * the renderer is probed.
 */
export class WorkFolderWatch extends EventEmitter<{ change: [] }> {
  readonly #check: (how: { write: boolean }) => Promise<boolean>;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #timer: Timer | undefined;
  #looks = 0;
  #looking: Promise<void> | undefined;
  #lookedAtMs = 0;
  /** The problem, for the log; null while the folder is usable. */
  problem: string | null = null;

  constructor(options: {
    /** Checks the folder; resolves with true when it was replaced. */
    check: (how: { write: boolean }) => Promise<boolean>;
    clock: Clock;
    logger: Logger;
  }) {
    super();
    this.#check = options.check;
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  start(): void {
    this.#timer = this.#clock.every(LOOK_MS, () => this.#look());
  }

  /** Checks immediately with a write; resolves with whether the folder is usable. */
  async canBeUsed(): Promise<boolean> {
    await this.#looked();
    this.#look({ write: true });
    await this.#looked();
    return this.problem === null && !this.#hangs;
  }

  /** Stops the checks; does not wait for one that hangs. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (!this.#hangs) await this.#looking;
  }

  /** Resolves when the current check has ended or timed out. */
  async #looked(): Promise<void> {
    if (this.#looking !== undefined) await within(this.#clock, SILENCE_MS, this.#looking);
  }

  get #hangs(): boolean {
    return this.#looking !== undefined && this.#clock.uptimeMs() - this.#lookedAtMs > SILENCE_MS;
  }

  /** While there is a problem, every check writes. */
  #look({ write = this.problem !== null || ++this.#looks % LOOKS_PER_WRITE === 0 } = {}): void {
    if (this.#hangs) this.#fail('its file system does not respond');
    if (this.#looking !== undefined) return;
    this.#lookedAtMs = this.#clock.uptimeMs();
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
    this.#logger.warn({}, 'The work folder is usable again.');
    this.emit('change');
  }

  #fail(reason: string): void {
    if (!this.#timer) return;
    if (this.problem === null) this.#logger.error({ reason }, "The work folder can't be used.");
    this.problem = reason;
  }
}
