import { known } from '../base/known-options.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { Balance, Ledger } from './ledger.ts';
import type { AuditReport } from './ledger-store.ts';
import { DEFAULT_FREE_CREDITS_PER_MONTH, type StoredLedger } from './stored-ledger.ts';

/**
 * A ledger for free renders: grants every request and charges nothing.
 *
 * ```ts
 * const service = new RenderService({ folder: './renders', ledger: new UnmeteredLedger({ freeCreditsPerMonth: 100 }) });
 * ```
 */
export class UnmeteredLedger implements Ledger {
  readonly chargesNothing = true;
  /** Checks the queue, deliveries and reserves that are still open; undefined without `books`. */
  readonly audit?: () => Promise<AuditReport>;
  readonly #freeCredits: number;
  readonly #books: StoredLedger | undefined;

  /**
   * `freeCreditsPerMonth`: the monthly allowance that `/me` shows; never spent. `books`: the ledger with reserves of
   * jobs that were enqueued while renders cost credits; these are returned in full.
   */
  constructor(options: { freeCreditsPerMonth?: number; books?: StoredLedger | undefined } = {}) {
    const { freeCreditsPerMonth = DEFAULT_FREE_CREDITS_PER_MONTH, books } = known(
      'UnmeteredLedger',
      options,
      { freeCreditsPerMonth: true, books: true },
    );
    this.#freeCredits = freeCreditsPerMonth;
    this.#books = books;
    if (books) this.audit = () => books.audit();
  }

  /** Without `books` it joins any storage. */
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
    const books = this.#books;
    if (books && (await books.hasReserve(jobId, tx)))
      await books.settle({ jobId, owner, amountCredits: 0 }, tx);
    return { kind: 'settled', chargedCredits: 0 };
  }

  async void(job: { jobId: string; owner: string }, tx?: Transaction): Promise<void> {
    const books = this.#books;
    if (books && (await books.hasReserve(job.jobId, tx))) await books.void(job, tx);
  }

  async balance(): Promise<Balance> {
    return { paid: 0, free: this.#freeCredits, total: this.#freeCredits };
  }

  async available(): Promise<number> {
    return Number.POSITIVE_INFINITY;
  }
}
