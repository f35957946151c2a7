export const HOUR_MS: number = 3_600_000;

/** Buckets of the window. */
const PARTS = 60;

/**
 * Sums amounts over a sliding window, with a resolution of 1/60 of it: each amount counts for 59 to 60 sixtieths of
 * the window. Uses constant memory.
 */
export class SlidingSum {
  readonly #partMs: number;
  /** Indexed by part number since the epoch, modulo 60. */
  readonly #amounts = new Float64Array(PARTS);
  /** The newest part. */
  #part = 0;
  #sum = 0;

  constructor(windowMs: number) {
    this.#partMs = windowMs / PARTS;
  }

  /** Adds an amount at a time; ignores it when older than the window. */
  add(amount: number, atMs: number, nowMs: number): void {
    this.#goTo(nowMs);
    // A time in the future, from a clock that was ahead, counts as now.
    const part = Math.min(this.#partOf(atMs), this.#part);
    if (part <= this.#part - PARTS) return;
    this.#change(part, amount);
  }

  /** The sum over the window that ends at `nowMs`. */
  sum(nowMs: number): number {
    this.#goTo(nowMs);
    return this.#sum;
  }

  /** Milliseconds until the sum is below a limit if nothing is added; 0 when it already is. */
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
    // After a jump of the clock by a whole window or more, earlier amounts cannot be placed: start over.
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
