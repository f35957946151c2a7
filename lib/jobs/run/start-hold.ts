import { EventEmitter } from 'node:events';
import { Backoff } from '../../time/backoff.ts';
import type { Clock, Timer } from '../../time/clock.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Pauses new renders with exponential backoff while attempts cannot be made. Emits `end` when they may start again. */
export class StartHold extends EventEmitter<{ end: [] }> {
  readonly #clock: Clock;
  #timer: Timer | undefined;
  readonly #backoff = new Backoff(FIRST_MS, LONGEST_MS);
  #isShortage = false;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  get active(): boolean {
    return this.#timer !== undefined;
  }

  /** The last attempt failed for lack of a system resource. */
  get isShortage(): boolean {
    return this.#isShortage;
  }

  /** Starts a hold unless one is active. Returns its length in milliseconds. */
  begin({ isShortage = false }: { isShortage?: boolean } = {}): number {
    this.#isShortage ||= isShortage;
    if (this.#timer) return this.#backoff.nextMs;
    const holdMs = this.#backoff.next();
    this.#timer = this.#clock.after(holdMs, () => {
      this.end();
      this.emit('end');
    });
    return holdMs;
  }

  /** Ends the hold early, without an event and without resetting the backoff. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** A render has made progress: the shortage has ended. */
  noteProgress(): void {
    this.#isShortage = false;
  }

  /** Resets the backoff after an attempt that was carried out. */
  reset(): void {
    this.#backoff.reset();
    this.#isShortage = false;
  }
}
