import type { Transaction } from '../storage/storage.ts';

/** The owner of keys, jobs and credits. */
export interface Account {
  /** `userId` on the wire, `owner` of jobs. */
  accountId: string;
  /** Unique, compared without regard to case. */
  email: string;
  createdAtMs: number;
  /** Since when its keys open nothing; absent while it is enabled. */
  disabledAtMs?: number;
}

export interface AccountStore {
  insertAccount(tx: Transaction, account: Account): Promise<void>;
  /** Replaces the record of an account that exists; its address stays. */
  updateAccount(tx: Transaction, account: Account): Promise<void>;
  getAccount(accountId: string, tx?: Transaction): Promise<Account | undefined>;
  findAccountByEmail(email: string, tx?: Transaction): Promise<Account | undefined>;
  /** Oldest first. */
  listAccounts(): Promise<Account[]>;
}
