import { randomFillSync } from 'node:crypto';

/** Filled in bulk: a system call for a few bytes takes 5 µs. */
const pool: Buffer = Buffer.alloc(8192);
let poolAt: number = pool.length;

/** Cryptographically secure random bytes, for keys, nonces and ids. At most 1,024. */
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
