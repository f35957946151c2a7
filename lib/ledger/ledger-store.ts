import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';

/** Credits granted to an account, and their remainder. */
export interface Grant {
  /** Identifies it. */
  grantId: string;
  /** `free`: of a month; `paid`: until they are spent. */
  source: 'free' | 'paid';
  /** The month (UTC) that a free grant is for, as `2026-11`; null for paid ones, which don't expire. */
  period: string | null;
  /** Credits that are neither spent nor reserved nor expired. */
  remainingCredits: number;
}

/** The state of an account. */
export interface LedgerAccount {
  /** Whose credits they are. */
  owner: string;
  /** The account's current accounting month (UTC), as `2026-11`; empty before the first. */
  period: string;
  /** Grants with remaining credits: free ones first, then paid ones, oldest first. */
  grants: Grant[];
}

/** Credits taken from (or returned to) one grant. */
export interface GrantPart {
  /** The grant that it is taken from or returned to. */
  grantId: string;
  /** The kind of the grant. */
  source: 'free' | 'paid';
  /** The month of a free grant, as `2026-01`; null for a paid one. */
  period: string | null;
  /** Credits. */
  amountCredits: number;
}

/**
 * An entry of the append-only ledger. `amountCredits` is the change of the balance: positive for `grant`, `void` and
 * most `settle`, else negative. A negative `grant` takes purchased credits back; its first part, of nothing, identifies it.
 */
export interface LedgerEntry {
  /** Sortable by time. */
  entryId: string;
  /** Whose credits it changes. */
  owner: string;
  /** What changed them. */
  kind: 'grant' | 'expiry' | 'reserve' | 'settle' | 'void';
  /** Credits. */
  amountCredits: number;
  /** The credits charged by a `settle`; 0 otherwise. */
  chargedCredits: number;
  /** The job that it belongs to; null for grants and expiries. */
  jobId: string | null;
  /** The grants that it takes from or returns to. */
  parts: GrantPart[];
  /** Given with a grant; null otherwise. */
  note: string | null;
  /** Epoch milliseconds. */
  atMs: number;
}

/** A query for an account's entries, newest first. */
export interface EntryQuery {
  /** Maximum number of entries. */
  limit: number;
  /** Only entries older than this one: the last `entryId` of the previous page. */
  before?: string;
  /** True: without the reserves of jobs that were settled or voided, so that each job has one entry. */
  foldsJobs?: boolean;
}

/** The charges of an account in a period. */
export interface Charges {
  /** Credits. */
  chargedCredits: number;
  /** The number of charged renders. */
  renders: number;
}

/** The result of an audit; `problems` is empty when the ledger is consistent. */
export interface AuditReport {
  /** Number of accounts that were checked. */
  accounts: number;
  /** Number of entries that were checked. */
  entries: number;
  /** Number of jobs that were checked. */
  jobs: number;
  /** One sentence each, naming owner or job. */
  problems: string[];
}

/**
 * The store of the built-in ledger, in the same database and transactions as the jobs. The entries are authoritative;
 * the remainder of each grant is their sum.
 */
export interface LedgerStore {
  /** The storage whose transactions it joins. */
  readonly storage: Storage;
  /** With `tx`, locks the account until the transaction ends. */
  getAccount(owner: string, tx?: Transaction): Promise<LedgerAccount | undefined>;
  /** Creates an account without an accounting month, unless it exists: also when another transaction inserts it. */
  insertAccount(tx: Transaction, owner: string): Promise<void>;
  /** Sets the accounting month of an account; creates the account when missing. */
  setPeriod(tx: Transaction, owner: string, period: string): Promise<void>;
  /** The last month up to `period` with a free grant, spent ones included. */
  lastFreePeriod(tx: Transaction, owner: string, period: string): Promise<string | undefined>;
  /** The entry of a grant, even when it is spent. */
  findGrant(tx: Transaction, owner: string, grantId: string): Promise<LedgerEntry | undefined>;
  /**
   * Appends an entry to an account and adds its parts to their grants (or subtracts them, when the amount is
   * negative), also in `account`. Rejects an entry that would make a grant negative or create a grant twice, a second
   * reserve of a job and a second end of one.
   */
  append(tx: Transaction, account: LedgerAccount, entry: LedgerEntry): Promise<void>;
  /** The reserve of a job and its end (`settle` or `void`), in any order. */
  entriesOfJob(jobId: string, tx?: Transaction): Promise<LedgerEntry[]>;
  /** Newest first. */
  listEntries(owner: string, query: EntryQuery): Promise<LedgerEntry[]>;
  /** The charges of an account from `fromMs` until before `untilMs`. */
  sumCharges(owner: string, period: { fromMs: number; untilMs: number }): Promise<Charges>;
  /** At most `limit` owners whose accounting month is not `period`. */
  ownersNotIn(period: string, limit: number): Promise<string[]>;
  /** Recomputes all balances from the entries, and compares the ledger with the jobs. `signal` aborts it. */
  audit(options?: { signal?: AbortSignal | undefined }): Promise<AuditReport>;
}
