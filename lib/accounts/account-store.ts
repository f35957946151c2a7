import type { Transaction } from '../storage/storage.ts';

/** The owner of keys, jobs and credits. */
export interface Account {
  /** `userId` on the wire, `owner` of jobs. */
  accountId: string;
  /** Unique, compared without regard to case; empty when the account is deleted. */
  email: string;
  createdAtMs: number;
  /** Since when its keys open nothing; absent while it is enabled. */
  disabledAtMs?: number;
  /** Since when nothing is known of it but what it paid; absent in all others. */
  deletedAtMs?: number;
}

export interface AccountStore {
  insertAccount(tx: Transaction, account: Account): Promise<void>;
  /** Replaces the record of an account that exists; its address stays. */
  updateAccount(tx: Transaction, account: Account): Promise<void>;
  /** Replaces the record of an account by one without an address, which another may have from then on. */
  forgetAddress(tx: Transaction, account: Account & { email: '' }): Promise<void>;
  getAccount(accountId: string, tx?: Transaction): Promise<Account | undefined>;
  findAccountByEmail(email: string, tx?: Transaction): Promise<Account | undefined>;
  /** Oldest first, deleted ones too. */
  listAccounts(): Promise<Account[]>;
}
