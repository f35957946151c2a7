import type { Storage, Transaction } from '../storage/storage.ts';
import type { AuditReport } from './ledger-store.ts';

/** What an account can spend now: open reserves are already taken off. Integers. */
export interface Balance {
  /** Purchased credits. */
  paid: number;
  /** What is left of the current month's allowance. */
  free: number;
  total: number;
}

/**
 * Credits, held and charged in two phases, keyed by job.
 *
 * Every call may be repeated with the same arguments, after a crash or a time-out: a repetition changes nothing
 * and gives the same answer. A job is reserved once, and then settled or voided, once.
 *
 * A ledger that keeps its books in the same database as the jobs says so with {@link Ledger.joins} and is handed
 * the transaction in which the job changes. A ledger that lives elsewhere (your billing system) gets no
 * transaction: the service first records what it is about to ask, and asks until it is answered, also after a crash.
 * Give each call a time limit of its own: the service has none.
 */
export interface Ledger {
  start?(): Promise<void>;
  stop?(): Promise<void>;

  /** True where renders cost nothing: then nothing is reserved for them either. */
  readonly chargesNothing?: boolean;

  /** True when this ledger's calls belong into transactions of that storage. */
  joins(storage: Storage): boolean;

  /** Holds credits for a job. */
  reserve(
    request: { jobId: string; owner: string; amountCredits: number },
    tx?: Transaction,
  ): Promise<'reserved' | 'insufficient'>;

  /**
   * Charges what the job really cost and releases the rest of its reserve. A cost above the reserve takes the
   * difference from the balance; where that isn't covered the answer is `insufficient` and nothing has changed
   * (the service then voids). `chargedCredits` is what was charged, 0 where renders cost nothing.
   */
  settle(
    request: { jobId: string; owner: string; amountCredits: number },
    tx?: Transaction,
  ): Promise<{ kind: 'settled'; chargedCredits: number } | { kind: 'insufficient' }>;

  /** Releases a job's whole reserve. A job that was never reserved stays so, for good: a late reserve is refused. */
  void(request: { jobId: string; owner: string }, tx?: Transaction): Promise<void>;

  /** What the owner can spend now. */
  balance(owner: string): Promise<Balance>;

  /** Looks whether the books add up and say the same as the jobs; called after the start and each night. */
  audit?(): Promise<AuditReport>;

  /** Credits that a running job may still take beyond its reserve; `Infinity` where renders cost nothing. */
  available(owner: string): Promise<number>;
}
