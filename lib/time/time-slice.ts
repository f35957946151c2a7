import { type Clock, turn } from './clock.ts';

const LONGEST_MS = 4;

/** Measures how long synchronous work has blocked the event loop: microtasks alone do not yield to other events. */
export class TimeSlice {
  readonly #clock: Clock;
  #begunMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when the caller should await {@link end} before more work. */
  get isLong(): boolean {
    if (this.#begunMs !== undefined) return this.#clock.uptimeMs() - this.#begunMs > LONGEST_MS;
    this.#begunMs = this.#clock.uptimeMs();
    void turn().then(() => {
      this.#begunMs = undefined;
    });
    return false;
  }

  /** Yields to the event loop. */
  async end(): Promise<void> {
    await turn();
  }
}
