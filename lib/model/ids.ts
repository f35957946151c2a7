import type { Random } from '../base/random.ts';
import type { Clock } from '../time/clock.ts';

/**
 * Generates URL-safe ids that sort by creation time (also within one millisecond): 16 hexadecimal digits of time and
 * sequence number, then 32 (128 bits) random.
 *
 * ```ts
 * const ids = new SortableIds(systemClock, systemRandom);
 * ids.next() < ids.next(); // true
 * ```
 */
export class SortableIds {
  readonly #clock: Clock;
  readonly #random: Random;
  #lastMs = 0;
  /** The sequence number of the last id in that millisecond. */
  #lastNumber = 0;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Greater than all before. */
  next(): string {
    const now = Math.floor(this.#clock.now());
    if (now > this.#lastMs) {
      this.#lastMs = now;
      this.#lastNumber = 0;
    } else if (this.#lastNumber < LARGEST_NUMBER) {
      this.#lastNumber += 1;
    } else {
      this.#lastMs += 1;
      this.#lastNumber = 0;
    }
    return idOf(this.#lastMs, this.#lastNumber, this.#random);
  }
}

/** The creation time of an id of {@link SortableIds}, in epoch milliseconds. */
export function timeOfId(id: string): number {
  return Number(BigInt(`0x${id.slice(0, 16)}`) >> 16n);
}

/** Sorts before all ids that were made at a moment or later (epoch milliseconds). */
export function firstIdAt(ms: number): string {
  return Math.max(0, Math.floor(ms))
    .toString(16)
    .padStart(2 * MS_BYTES, '0');
}

const MS_BYTES = 6;
const NUMBER_BYTES = 2;
const LARGEST_NUMBER = 2 ** 16 - 1;
const RANDOM_BYTES = 16;
const ID_BYTES = MS_BYTES + NUMBER_BYTES + RANDOM_BYTES;

/** Encoded in one call: V8 would keep a concatenation as a rope and flatten it when it is compared. */
function idOf(ms: number, number: number, random: Random): string {
  const id = random.bytes(ID_BYTES);
  id.writeUIntBE(ms, 0, MS_BYTES);
  id.writeUInt16BE(number, MS_BYTES);
  return id.toString('hex');
}

/** An id with a readable prefix, such as `acct_5f0c…`: 96 random bits. */
export function randomId(prefix: string, random: Random): string {
  return `${prefix}_${random.bytes(12).toString('hex')}`;
}
