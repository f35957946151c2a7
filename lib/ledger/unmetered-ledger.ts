import type { Storage, Transaction } from '../storage/storage.ts';
import type { Balance, Ledger } from './ledger.ts';
import { DEFAULT_FREE_CREDITS_PER_MONTH, type StoredLedger } from './stored-ledger.ts';

/** For those who render on their own hardware: everything is granted, nothing is charged. */
export class UnmeteredLedger implements Ledger {
  readonly chargesNothing = true;
  readonly #freeCredits: number;
  readonly #books: StoredLedger | undefined;

  /**
   * `freeCreditsPerMonth`: what `/me` shows as the month's allowance, never spent. `books`: where jobs that were taken on
   * while renders cost credits have their reserves; those are returned in full.
   */
  constructor({
    freeCreditsPerMonth = DEFAULT_FREE_CREDITS_PER_MONTH,
    books,
  }: { freeCreditsPerMonth?: number; books?: StoredLedger | undefined } = {}) {
    this.#freeCredits = freeCreditsPerMonth;
    this.#books = books;
  }

  /** Without books every transaction suits it. */
  joins(storage: Storage): boolean {
    return this.#books?.joins(storage) ?? true;
  }

  async reserve(): Promise<'reserved'> {
    return 'reserved';
  }

  async settle(
    { jobId, owner }: { jobId: string; owner: string },
    tx?: Transaction,
  ): Promise<{ kind: 'settled'; chargedCredits: number }> {
    if (await this.#books?.hasReserve(jobId, tx))
      await this.#books?.settle({ jobId, owner, amountCredits: 0 }, tx);
    return { kind: 'settled', chargedCredits: 0 };
  }

  async void(job: { jobId: string; owner: string }, tx?: Transaction): Promise<void> {
    if (await this.#books?.hasReserve(job.jobId, tx)) await this.#books?.void(job, tx);
  }

  async balance(): Promise<Balance> {
    return { paid: 0, free: this.#freeCredits, total: this.#freeCredits };
  }

  async available(): Promise<number> {
    return Number.POSITIVE_INFINITY;
  }
}
