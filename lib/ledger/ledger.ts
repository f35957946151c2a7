import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { AuditReport } from './ledger-store.ts';

/** The available credits of an account, net of open reserves. Integers. */
export interface Balance {
  /** Purchased credits. */
  paid: number;
  /** The rest of the current month's free credits. */
  free: number;
  /** `paid` and `free` together, in credits. */
  total: number;
}

/**
 * The answer to a reserve. With a `message`, clients see that instead of the library's: whole sentences that say why,
 * and what to do.
 */
export type ReserveAnswer = 'reserved' | 'insufficient' | { kind: 'insufficient'; message: string };

/**
 * A credit ledger with two-phase charges (reserve, then settle or void), keyed by job.
 *
 * All calls are idempotent: after a crash or time-out, a call is repeated with the same arguments and must return the
 * same answer without further changes. A job is reserved once, and then settled or voided once: the first of these is
 * final. Later calls for the job change nothing:
 *
 * | call | after `settle` | after `void` |
 * |---|---|---|
 * | `reserve` | `reserved` | `insufficient` |
 * | `settle`, also with another amount | `settled`, with the credits charged first | `insufficient` |
 * | `void` | rejects | resolves |
 *
 * These calls happen: two processes may end the same job after a crash, and the balance may rise between their calls.
 * A `void` that resolved after `settle` would let the service report a charged render as failed; when it rejects, the
 * service repeats `settle`.
 *
 * A ledger in the same database as the jobs returns true from {@link Ledger.joins} and gets the transaction that
 * changes the job. An external ledger (your billing system) gets no transaction: the service records the intent first
 * and retries until it gets an answer, also after a crash. Implement a time-out for each call: the service has none.
 * It must be well below five minutes: when several processes share a storage, a job that has been reserving for so
 * long is taken for abandoned, and voided.
 */
export interface Ledger {
  /** Called when the service starts; an error fails its start. */
  start?(): Promise<void>;
  /** Called when the service stops. */
  stop?(): Promise<void>;

  /** True when renders are free: nothing is reserved for them. */
  readonly chargesNothing?: boolean;

  /**
   * Advice for an owner whose balance is too low: whole sentences, added to the message of
   * `insufficient_credits`, which clients of the HTTP API see. Default: "Top up credits, then try again."
   */
  readonly topUpHint?: string | undefined;

  /** True when the ledger takes part in transactions of that storage. */
  joins(storage: Storage): boolean;

  /**
   * Reads ahead what the next `reserve`, `settle` or `void` in this transaction needs; called at the same time as other
   * reads of it. Must change nothing.
   */
  prepare?(request: { owner: string; jobId?: string }, tx: Transaction): Promise<void>;

  /** Holds credits for a job. `tx`: the transaction that adds the job, which therefore has no reserve yet. */
  reserve(
    request: { jobId: string; owner: string; amountCredits: number },
    tx?: Transaction,
  ): Promise<ReserveAnswer>;

  /**
   * Charges the actual cost of the job and releases the rest of its reserve. A cost above the reserve is charged to
   * the balance; when the balance does not cover it, returns `insufficient` without changes (the service then voids).
   * `chargedCredits`: the credits charged, 0 when renders are free; when the job was settled before, those charged then.
   * A number: a safe integer of at least 0. Any other answer counts as an error.
   */
  settle(
    request: { jobId: string; owner: string; amountCredits: number },
    tx?: Transaction,
  ): Promise<{ kind: 'settled'; chargedCredits: number } | { kind: 'insufficient' }>;

  /**
   * Releases a job's whole reserve. After it, also without a reserve, `reserve` and `settle` answer `insufficient`.
   * Rejects when the job is settled.
   */
  void(request: { jobId: string; owner: string }, tx?: Transaction): Promise<void>;

  /** The credits that the owner can spend now. */
  balance(owner: string): Promise<Balance>;

  /** Checks the ledger's consistency, also with the jobs. Called after the start and every night. */
  audit?(): Promise<AuditReport>;

  /** Credits that a running job may use beyond its reserve, a number; `Infinity` when renders are free. */
  available(owner: string): Promise<number>;
}
