import type { Clock } from '../time/clock.ts';

/**
 * How far a clock is ahead of that of a storage, in whole milliseconds: the least that is certain, because the storage
 * answers at an unknown moment between request and response.
 */
export async function clockAheadMs(clock: Clock, storageMs: () => Promise<number>): Promise<number> {
  const sentMs = clock.now();
  const thereMs = await storageMs();
  const receivedMs = clock.now();
  if (thereMs < sentMs) return Math.round(sentMs - thereMs);
  return Math.min(0, Math.round(receivedMs - thereMs));
}
