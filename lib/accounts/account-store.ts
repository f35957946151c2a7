import type { Page } from '../base/pages.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { Identity } from './identity.ts';

/** An `admin` acts for all accounts, a `member` for its own. */
export type AccountRole = 'admin' | 'member';

/** The owner of keys, jobs and credits. */
export interface Account {
  /** `userId` on the wire, `owner` of jobs. */
  accountId: string;
  /** Unique, compared without regard to case; empty once the account is deleted. */
  email: string;
  /** Epoch milliseconds. */
  createdAtMs: number;
  /** When it was disabled; absent while it is enabled. */
  disabledAtMs?: number;
  /** When its deletion started; the deletion is complete when the e-mail address is empty. Absent otherwise. */
  deletedAtMs?: number;
  /** For {@link verifyPassword}; absent before a password is set. */
  passwordHash?: string;
  /** Its role in the dashboard; absent: `member`. */
  role?: AccountRole;
  /** How many of its jobs may wait; absent: as many as of any account. */
  maxQueued?: number;
  /** How many MiB its files may take; absent: as many as those of any account. */
  maxFilesMb?: number;
  /** How many scenes it may have; absent: as many as any account. */
  maxScenes?: number;
  /** The issuer of access tokens (OpenID Connect) that knows its person as `subject`; absent: none. */
  issuer?: string;
  /** Present where `issuer` is. */
  subject?: string;
  /** Its second factor: the secret of time-based codes (RFC 6238), sealed with the master key; absent: none. */
  totpSecretSealed?: string;
  /** The latest time step whose code was accepted: its code and earlier ones are refused. Present where the secret is. */
  totpStep?: number;
  /** Hashes of the unused recovery codes, separated by spaces. Present where the secret is. */
  recoveryHashes?: string;
}

/** A query for accounts. */
export interface AccountQuery extends Page {
  /** Only accounts whose address contains this text, in any case. */
  text?: string;
}

/**
 * The store of accounts: a file of the data folder, or a table of an SQL database.
 *
 * - Each method is atomic, and durable when its promise resolves. One that fails changes nothing; reject with
 *   `storage_failed`, or `storage_full`.
 * - Reads see durable data only. Accounts are never removed.
 */
export interface AccountStore {
  /** Adds an account. An `accountId` must not be reused. Error: `conflict` when another has its address or identity. */
  insertAccount(account: Account): Promise<void>;
  /**
   * Atomically replaces an account by the result of `change`, which may be called more than once and must not change
   * `accountId` or `createdAtMs`. Nothing is written when it returns its argument. Errors: `not_found`; `conflict`
   * when another account has the address or identity.
   */
  changeAccount(accountId: string, change: (account: Account) => Account): Promise<Account>;
  /**
   * Undefined if there is none. `tx`: a transaction of the jobs; a store in the same database reads in it, others ignore
   * it.
   */
  getAccount(accountId: string, tx?: Transaction): Promise<Account | undefined>;
  /** By the address in lower case; undefined if there is none. */
  findAccountByEmail(email: string): Promise<Account | undefined>;
  /** Undefined if there is none. */
  findAccountByIdentity(identity: Identity): Promise<Account | undefined>;
  /** Lists accounts with an address, oldest first. Error: `not_found` when the account `after` does not exist. */
  listAccounts(query?: AccountQuery): Promise<Account[]>;
}

/** An account without its second factor. */
export function withoutTwoFactor(account: Account): Account {
  const { totpSecretSealed: _, totpStep: __, recoveryHashes: ___, ...rest } = account;
  return rest;
}
