import { randomBytes, randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

/**
 * Makes ids that are URL-safe, sort by the time of their making (also within one millisecond) and end in 128
 * random bits: 16 hexadecimal digits of time, 32 of chance.
 */
export class SortableIds {
  readonly #clock: Clock;
  #lastTick = 0n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  next(): string {
    const tick = BigInt(this.#clock.now()) << 16n;
    this.#lastTick = tick > this.#lastTick ? tick : this.#lastTick + 1n;
    return this.#lastTick.toString(16).padStart(16, '0') + nextRandomHex();
  }
}

/** When an id of {@link SortableIds} was made, in epoch milliseconds. */
export function timeOfId(id: string): number {
  return Number(BigInt(`0x${id.slice(0, 16)}`) >> 16n);
}

const RANDOM_BYTES = 16;
/** Random bytes for many ids: asking for few at a time takes longer than all else about an id. */
const pool: Buffer = Buffer.alloc(256 * RANDOM_BYTES);
let poolAt: number = pool.length;

function nextRandomHex(): string {
  if (poolAt === pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  poolAt += RANDOM_BYTES;
  return pool.toString('hex', poolAt - RANDOM_BYTES, poolAt);
}

/** An id with a readable prefix, as `acct_5f0c…`: 96 random bits. */
export function randomId(prefix: string): string {
  return `${prefix}_${randomBytes(12).toString('hex')}`;
}
