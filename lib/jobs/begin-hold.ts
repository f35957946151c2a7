import type { Clock, Timer } from '../clock.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Keeps renders from beginning for a while, twice as long each time, while attempts can't be made. */
export class BeginHold {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  #timer: Timer | undefined;
  #nextMs = FIRST_MS;
  #isShortage = false;

  /** `onEnd` is called when renders may begin again. */
  constructor(clock: Clock, onEnd: () => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  get active(): boolean {
    return this.#timer !== undefined;
  }

  /** The last attempt could not be made for lack of a resource of the machine. */
  get isShortage(): boolean {
    return this.#isShortage;
  }

  /** Begins a hold, unless there is one. Answers with how long it lasts. */
  begin({ isShortage = false }: { isShortage?: boolean } = {}): number {
    this.#isShortage ||= isShortage;
    if (this.#timer) return this.#nextMs;
    const holdMs = this.#nextMs;
    this.#nextMs = Math.min(2 * holdMs, LONGEST_MS);
    this.#timer = this.#clock.after(holdMs, () => {
      this.end();
      this.#onEnd();
    });
    return holdMs;
  }

  /** Renders may begin; whether they can, is to be seen. */
  end(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** A render has come further than to its start. */
  attemptGoesOn(): void {
    this.#isShortage = false;
  }

  /** An attempt was made: the next hold is a short one. */
  reset(): void {
    this.#nextMs = FIRST_MS;
    this.#isShortage = false;
  }
}
