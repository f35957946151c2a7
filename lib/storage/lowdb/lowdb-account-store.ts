import assert from 'node:assert/strict';
import type { Account, AccountStore } from '../../accounts/account-store.ts';
import { ScenepressError } from '../../errors.ts';
import type { Transaction } from '../storage.ts';
import type { LowdbDatabase } from './database.ts';

const TABLE = 'accounts';
/** Maps an e-mail address, in lower case, to the account that has it: a row, so that transactions see it. */
const EMAILS = 'accountEmails';

/** Accounts in the embedded database. */
export class LowdbAccountStore implements AccountStore {
  readonly #database: LowdbDatabase;

  constructor(database: LowdbDatabase) {
    this.#database = database;
  }

  async insertAccount(tx: Transaction, account: Account): Promise<void> {
    const inside = this.#database.inside(tx);
    const email = account.email.toLowerCase();
    if (inside.get(EMAILS, email)) {
      throw new ScenepressError('conflict', `There is an account with the address ${account.email} already.`);
    }
    inside.put(TABLE, account.accountId, account);
    inside.put(EMAILS, email, { accountId: account.accountId });
  }

  async updateAccount(tx: Transaction, account: Account): Promise<void> {
    const inside = this.#database.inside(tx);
    assert(inside.get<Account>(TABLE, account.accountId)?.email === account.email, 'its address stays');
    inside.put(TABLE, account.accountId, account);
  }

  async forgetAddress(tx: Transaction, account: Account & { email: '' }): Promise<void> {
    const inside = this.#database.inside(tx);
    const before = inside.get<Account>(TABLE, account.accountId);
    assert(before, 'the account exists');
    inside.remove(EMAILS, before.email.toLowerCase());
    inside.put(TABLE, account.accountId, account);
  }

  async getAccount(accountId: string, tx?: Transaction): Promise<Account | undefined> {
    return tx ? this.#database.inside(tx).get(TABLE, accountId) : this.#database.get(TABLE, accountId);
  }

  async findAccountByEmail(email: string, tx?: Transaction): Promise<Account | undefined> {
    const id = email.toLowerCase();
    const row = tx
      ? this.#database.inside(tx).get<{ accountId: string }>(EMAILS, id)
      : this.#database.get<{ accountId: string }>(EMAILS, id);
    return row && this.getAccount(row.accountId, tx);
  }

  async listAccounts(): Promise<Account[]> {
    return [...this.#database.all<Account>(TABLE)];
  }
}
