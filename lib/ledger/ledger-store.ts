import type { JobRecord } from '../jobs/job.ts';
import type { Storage, Transaction } from '../storage/storage.ts';

/** Credits put into an account, and what is left of them. */
export interface Grant {
  grantId: string;
  source: 'free' | 'paid';
  /** The month (UTC) that a free grant is for, as `2026-11`; null for paid ones, which don't expire. */
  period: string | null;
  remainingCredits: number;
}

/** An account's books: the grants that still hold credits. */
export interface LedgerAccount {
  owner: string;
  /** Oldest first; a grant with nothing left is dropped (its history stays in the entries). */
  grants: Grant[];
  /** The last month whose free grant was made. Never goes back, whatever the clock does. */
  lastPeriod: string;
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

/** All that is written of one job, or an entry that is of none: a grant, an expiry. */
export interface JobBooks {
  jobId: string | null;
  job: JobRecord | undefined;
  reserve: Reserve | undefined;
  /** Oldest first. */
  entries: LedgerEntry[];
}

/** A piece of the books: an account, or what is written of a job. */
export type Books = { account: LedgerAccount } | JobBooks;

/** Where the stored ledger keeps its books: beside the jobs, in the same transactions. */
export interface LedgerStore {
  readonly storage: Storage;
  getAccount(owner: string, tx?: Transaction): Promise<LedgerAccount | undefined>;
  putAccount(tx: Transaction, account: LedgerAccount): Promise<void>;
  getReserve(jobId: string, tx?: Transaction): Promise<Reserve | undefined>;
  putReserve(tx: Transaction, reserve: Reserve): Promise<void>;
  appendEntry(tx: Transaction, entry: LedgerEntry): Promise<void>;
  /** The entry of a grant, whatever is left of it. */
  findGrant(tx: Transaction, owner: string, grantId: string): Promise<LedgerEntry | undefined>;
  /** Newest first. */
  listEntries(owner: string, limit: number): Promise<LedgerEntry[]>;
  listOwners(): Promise<string[]>;
  /** For an audit: everything, as of one moment. The accounts first; then each job once, of all owners together. */
  readBooks(): AsyncIterable<Books>;
}
