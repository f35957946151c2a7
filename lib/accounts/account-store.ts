import type { Page } from '../pages.ts';

/** The owner of keys, jobs and credits. */
export interface Account {
  /** `userId` on the wire, `owner` of jobs. */
  accountId: string;
  /** Unique, compared without regard to case; empty once the account is deleted. */
  email: string;
  createdAtMs: number;
  /** Since when its keys are rejected; absent while it is enabled. */
  disabledAtMs?: number;
  /** Since when it is being deleted, which is complete when its address is empty; absent in all others. */
  deletedAtMs?: number;
}

/**
 * Where accounts live. Implement it to keep them in a database of your own.
 *
 * - Each method is atomic, and durable when its promise resolves. One that fails changes nothing; reject with
 *   `storage_failed`, or `storage_full`.
 * - Reads see what is durable. Accounts stay: none is removed.
 */
export interface AccountStore {
  /** Adds an account; `conflict` when another has its address. An `accountId` is used once only. */
  insertAccount(account: Account): Promise<void>;
  /**
   * Replaces an account by what `change` makes of it, whatever else changes it at the same time. `change` may be called
   * more than once, and changes neither `accountId` nor `createdAtMs`. Nothing is written when it returns its argument.
   * Errors: `not_found`; `conflict` when another has the address.
   */
  changeAccount(accountId: string, change: (account: Account) => Account): Promise<Account>;
  getAccount(accountId: string): Promise<Account | undefined>;
  findAccountByEmail(email: string): Promise<Account | undefined>;
  /** Oldest first, those without an address left out. `not_found` when there is no account `after`. */
  listAccounts(page?: Page): Promise<Account[]>;
}
