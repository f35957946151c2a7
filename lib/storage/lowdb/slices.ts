import { setImmediate } from 'node:timers/promises';

/** A millisecond's work, about. */
const ROWS = 1000;

/** Cuts a long loop over rows into slices, so that requests are answered in between: `await slices.next()` per row. */
export class Slices {
  #left = ROWS;

  /** Undefined within a slice; at its end everything else runs once. */
  next(): Promise<void> | undefined {
    this.#left -= 1;
    if (this.#left > 0) return undefined;
    this.#left = ROWS;
    return setImmediate();
  }
}
