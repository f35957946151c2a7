import { randomFillSync } from 'node:crypto';

/** Drawn from the system for many calls at once: a few bytes at a time take 5 µs each. */
const pool: Buffer = Buffer.alloc(8192);
let poolAt: number = pool.length;

/** Random bytes that nothing else gets, for keys, nonces and ids. At most 1,024. */
export function randomBytes(sizeBytes: number): Buffer {
  if (poolAt + sizeBytes > pool.length) {
    randomFillSync(pool);
    poolAt = 0;
  }
  const bytes = Buffer.from(pool.subarray(poolAt, poolAt + sizeBytes));
  pool.fill(0, poolAt, poolAt + sizeBytes);
  poolAt += sizeBytes;
  return bytes;
}
