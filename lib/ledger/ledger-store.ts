import type { Storage, Transaction } from '../storage/storage.ts';

/** Credits put into an account, and what is left of them. */
export interface Grant {
  grantId: string;
  source: 'free' | 'paid';
  /** The month (UTC) that a free grant is for, as `2026-11`; null for paid ones, which don't expire. */
  period: string | null;
  remainingCredits: number;
}

/** An account's books. */
export interface LedgerAccount {
  owner: string;
  /** The month (UTC) that its books are open for, as `2026-11`; empty before the first. */
  period: string;
  /** Those that still hold credits: the free ones, then the paid ones, oldest first. */
  grants: Grant[];
}

/** Credits taken from (or returned to) one grant. */
export interface GrantPart {
  grantId: string;
  source: 'free' | 'paid';
  period: string | null;
  amountCredits: number;
}

/** The hold of one job. */
export interface Reserve {
  jobId: string;
  owner: string;
  state: 'open' | 'settled' | 'voided';
  /** From which grants it was taken; the sum is the amount reserved. */
  parts: GrantPart[];
  /** What settling charged; 0 otherwise. */
  chargedCredits: number;
}

/**
 * One line of an account's history. Append-only.
 * `amountCredits` is what the balance changed by: positive for `grant`, `void` and most `settle`, negative else.
 */
export interface LedgerEntry {
  /** Sortable by time. */
  entryId: string;
  owner: string;
  kind: 'grant' | 'expiry' | 'reserve' | 'settle' | 'void';
  amountCredits: number;
  /** What a `settle` charged; 0 otherwise. */
  chargedCredits: number;
  jobId: string | null;
  parts: GrantPart[];
  note: string | null;
  atMs: number;
}

/** Which of an account's entries to list. Newest first. */
export interface EntryQuery {
  /** At most this many. */
  limit: number;
  /** Only entries older than this one: the last `entryId` of the page before. */
  before?: string;
}

/** What an audit looked at, and what doesn't add up: nothing, if all is well. */
export interface AuditReport {
  accounts: number;
  entries: number;
  jobs: number;
  /** One sentence each, naming owner or job. */
  problems: string[];
}

/**
 * Where the stored ledger keeps its books: beside the jobs, in the same transactions. The entries are the truth; what is
 * left of each grant is what they add up to.
 */
export interface LedgerStore {
  readonly storage: Storage;
  /** With `tx`, no one else changes the account before that transaction ends. */
  getAccount(owner: string, tx?: Transaction): Promise<LedgerAccount | undefined>;
  /** Notes the month that an account's books are open for; makes the account where there is none. */
  setPeriod(tx: Transaction, owner: string, period: string): Promise<void>;
  /** The last month up to `period` that has a free grant, whether anything is left of it or not. */
  lastFreePeriod(tx: Transaction, owner: string, period: string): Promise<string | undefined>;
  /** The entry of a grant, whatever is left of it. */
  findGrant(tx: Transaction, owner: string, grantId: string): Promise<LedgerEntry | undefined>;
  /**
   * Adds an entry, and its parts to (or, with a negative amount, takes them from) the grants that they name. An entry that
   * would leave less than nothing in a grant, make a grant twice or end a reserve twice is refused.
   */
  append(tx: Transaction, entry: LedgerEntry): Promise<void>;
  getReserve(jobId: string, tx?: Transaction): Promise<Reserve | undefined>;
  putReserve(tx: Transaction, reserve: Reserve): Promise<void>;
  listEntries(owner: string, query: EntryQuery): Promise<LedgerEntry[]>;
  /** Owners whose books are open for another month, at most `limit`. */
  ownersNotIn(period: string, limit: number): Promise<string[]>;
  /** Recomputes every balance from all entries, and compares the ledger with the jobs. */
  audit(): Promise<AuditReport>;
}
