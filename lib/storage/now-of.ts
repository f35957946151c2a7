import type { Clock } from '../time/clock.ts';
import type { Storage } from './storage.ts';
import type { Transaction } from './transaction.ts';

/**
 * The time in epoch milliseconds; with `tx`, that at which the transaction began. It is that of the storage if machines
 * share it, because their clocks may differ.
 */
export async function nowOf(
  { storage, clock }: { storage: Pick<Storage, 'nowMs'>; clock: Clock },
  tx?: Transaction,
): Promise<number> {
  return (await storage.nowMs?.(tx)) ?? clock.now();
}
