const MINUTE_MS = 60_000;
const MINUTES = 60;

export const HOUR_MS: number = MINUTES * MINUTE_MS;

/** Adds up amounts of the last hour, to the minute: each counts for 59 to 60 minutes. Takes the same memory for any number. */
export class HourCounter {
  /** By minute since the epoch, modulo 60. */
  readonly #amounts = new Float64Array(MINUTES);
  /** The last minute that there is room for. */
  #minute = 0;
  #sum = 0;

  /** Counts an amount of a moment; one that is older than an hour is left out. */
  add(amount: number, atMs: number, nowMs: number): void {
    this.#goTo(nowMs);
    // What comes from a clock that was ahead counts as of now.
    const minute = Math.min(minuteOf(atMs), this.#minute);
    if (minute <= this.#minute - MINUTES) return;
    this.#change(minute, amount);
  }

  /** What the amounts of the hour before a moment come to. */
  sum(nowMs: number): number {
    this.#goTo(nowMs);
    return this.#sum;
  }

  /** How long until the sum is below a limit, if nothing is added; 0 when it is. */
  msUntilBelow(limit: number, nowMs: number): number {
    let left = this.sum(nowMs);
    if (left < limit) return 0;
    for (let minute = this.#minute - MINUTES + 1; minute <= this.#minute; minute++) {
      left -= this.#amounts[minute % MINUTES] ?? 0;
      if (left < limit) return Math.max((minute + MINUTES) * MINUTE_MS - nowMs, 1);
    }
    return HOUR_MS;
  }

  #goTo(nowMs: number): void {
    const minute = minuteOf(nowMs);
    // Of a clock that was set back by an hour or more nothing can be told: it begins again.
    const isFar = Math.abs(minute - this.#minute) >= MINUTES;
    if (isFar) {
      this.#amounts.fill(0);
      this.#sum = 0;
      this.#minute = minute;
    }
    while (this.#minute < minute) {
      this.#minute += 1;
      this.#change(this.#minute, -(this.#amounts[this.#minute % MINUTES] ?? 0));
    }
  }

  #change(minute: number, amount: number): void {
    const index = minute % MINUTES;
    this.#amounts[index] = (this.#amounts[index] ?? 0) + amount;
    this.#sum += amount;
  }
}

function minuteOf(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}
