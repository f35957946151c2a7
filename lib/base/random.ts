import { randomFillSync } from 'node:crypto';
import type { Buffer as NodeBuffer } from './node-types.ts';

/** The source of random bytes. Injected, so a simulation can repeat a history. */
export interface Random {
  /** Bytes for keys, nonces and ids. */
  bytes(sizeBytes: number): NodeBuffer;
}

/** Filled in bulk: a system call for a few bytes takes 5 µs. */
const pool: Buffer = Buffer.alloc(8192);
let poolAt: number = pool.length;

/** Cryptographically secure. */
export const systemRandom: Random = {
  bytes(sizeBytes) {
    if (sizeBytes > pool.length) return randomFillSync(Buffer.allocUnsafe(sizeBytes));
    if (poolAt + sizeBytes > pool.length) {
      randomFillSync(pool);
      poolAt = 0;
    }
    const bytes = Buffer.allocUnsafe(sizeBytes);
    pool.copy(bytes, 0, poolAt);
    pool.fill(0, poolAt, poolAt + sizeBytes);
    poolAt += sizeBytes;
    return bytes;
  },
};
