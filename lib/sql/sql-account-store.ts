import assert from 'node:assert/strict';
import type { Account, AccountQuery, AccountStore } from '../accounts/account-store.ts';
import { type Identity, identityTaken } from '../accounts/identity.ts';
import { ScenepressError } from '../base/errors.ts';
import { DEFAULT_PAGE } from '../base/pages.ts';
import type { SqlDatabase, SqlTransaction } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';
import { ACCOUNT_RECORDS } from './account-row-formats.ts';
import { startOfPage } from './page-order.ts';

const BY_ADDRESS = `SELECT ${ACCOUNT_RECORDS.names} FROM accounts WHERE address = ?`;
const BY_IDENTITY = `SELECT ${ACCOUNT_RECORDS.names} FROM accounts WHERE issuer = ? AND subject = ?`;

/** Accounts in an SQL database. */
export class SqlAccountStore implements AccountStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async insertAccount(account: Account): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await assertFree(tx, account);
      await tx.run(ACCOUNT_RECORDS.insert, ...ACCOUNT_RECORDS.row(account));
    });
  }

  changeAccount(accountId: string, change: (account: Account) => Account): Promise<Account> {
    return this.#database.transaction(async (tx) => {
      const row = await tx.getForUpdate(ACCOUNT_RECORDS.byKey, accountId);
      if (!row) throw new ScenepressError('not_found', `There is no account ${accountId.slice(0, 80)}.`);
      const account = ACCOUNT_RECORDS.record(row);
      const changed = change(account);
      if (changed === account) return account;
      assert(changed.accountId === accountId && changed.createdAtMs === account.createdAtMs);
      await assertFree(tx, changed);
      await tx.run(ACCOUNT_RECORDS.update, ...ACCOUNT_RECORDS.changes(changed));
      return changed;
    });
  }

  async getAccount(accountId: string, tx?: Transaction): Promise<Account | undefined> {
    const reader = tx?.store === this.#database ? this.#database.inside(tx) : this.#database;
    const row = await reader.get(ACCOUNT_RECORDS.byKey, accountId);
    return row && ACCOUNT_RECORDS.record(row);
  }

  async findAccountByEmail(email: string): Promise<Account | undefined> {
    const row = await this.#database.get(BY_ADDRESS, email.toLowerCase());
    return row && ACCOUNT_RECORDS.record(row);
  }

  async findAccountByIdentity({ issuer, subject }: Identity): Promise<Account | undefined> {
    const row = await this.#database.get(BY_IDENTITY, issuer, subject);
    return row && ACCOUNT_RECORDS.record(row);
  }

  async listAccounts({ limit = DEFAULT_PAGE, after, text = '' }: AccountQuery = {}): Promise<Account[]> {
    const start = await startOfPage(this.#database, ACCOUNT_RECORDS, 'account', after);
    const rows = await this.#database.all(
      `SELECT ${ACCOUNT_RECORDS.names} FROM accounts WHERE address IS NOT NULL AND address LIKE ? ESCAPE '\\' AND (created_at_ms, account_id) > (?, ?)
       ORDER BY created_at_ms, account_id LIMIT ?`,
      `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`,
      ...start,
      limit,
    );
    return rows.map((row) => ACCOUNT_RECORDS.record(row));
  }
}

/** When another transaction takes them meanwhile, the unique index refuses it and this one is repeated. */
async function assertFree(tx: SqlTransaction, { accountId, email, issuer, subject }: Account): Promise<void> {
  const isOther = (row: { account_id: string } | undefined) => row && row.account_id !== accountId;
  if (email !== '' && isOther(await tx.get(BY_ADDRESS, email.toLowerCase())))
    throw new ScenepressError('conflict', `An account with the address ${email} already exists.`);
  if (issuer === undefined || subject === undefined) return;
  if (isOther(await tx.get(BY_IDENTITY, issuer, subject))) throw identityTaken();
}
