export const HOUR_MS: number = 3_600_000;

/** Parts of the window that are counted apart. */
const PARTS = 60;

/**
 * Adds up the amounts of a sliding window, to a sixtieth of it: each counts for 59 to 60 sixtieths. Takes the same memory
 * for any number of amounts.
 */
export class SlidingSum {
  readonly #partMs: number;
  /** By part since the epoch, modulo 60. */
  readonly #amounts = new Float64Array(PARTS);
  /** The last part that there is room for. */
  #part = 0;
  #sum = 0;

  constructor(windowMs: number) {
    this.#partMs = windowMs / PARTS;
  }

  /** Counts an amount of a moment; one that is older than the window is left out. */
  add(amount: number, atMs: number, nowMs: number): void {
    this.#goTo(nowMs);
    // What comes from a clock that was ahead counts as of now.
    const part = Math.min(this.#partOf(atMs), this.#part);
    if (part <= this.#part - PARTS) return;
    this.#change(part, amount);
  }

  /** What the amounts of the window before a moment come to. */
  sum(nowMs: number): number {
    this.#goTo(nowMs);
    return this.#sum;
  }

  /** How long until the sum is below a limit, if nothing is added; 0 when it is. */
  msUntilBelow(limit: number, nowMs: number): number {
    let left = this.sum(nowMs);
    if (left < limit) return 0;
    for (let part = this.#part - PARTS + 1; part <= this.#part; part++) {
      left -= this.#amounts[part % PARTS] ?? 0;
      if (left < limit) return Math.max((part + PARTS) * this.#partMs - nowMs, 1);
    }
    return PARTS * this.#partMs;
  }

  #goTo(nowMs: number): void {
    const part = this.#partOf(nowMs);
    // A clock that was set back by a whole window or more says nothing about what came before: begin again.
    const isFar = Math.abs(part - this.#part) >= PARTS;
    if (isFar) {
      this.#amounts.fill(0);
      this.#sum = 0;
      this.#part = part;
    }
    while (this.#part < part) {
      this.#part += 1;
      this.#change(this.#part, -(this.#amounts[this.#part % PARTS] ?? 0));
    }
  }

  #change(part: number, amount: number): void {
    const index = part % PARTS;
    this.#amounts[index] = (this.#amounts[index] ?? 0) + amount;
    this.#sum += amount;
  }

  #partOf(ms: number): number {
    return Math.floor(ms / this.#partMs);
  }
}
