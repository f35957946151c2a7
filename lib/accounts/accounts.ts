import assert from 'node:assert/strict';
import { type Clock, systemClock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { randomId } from '../ids.ts';
import type { Storage } from '../storage/storage.ts';
import type { Account, AccountStore } from './account-store.ts';

// One @ with something on both sides: an address is a name here, nothing is sent to it.
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const LONGEST_EMAIL = 254;

/** Makes and finds the owners of keys, jobs and credits. */
export class Accounts {
  readonly #storage: Storage;
  readonly #store: AccountStore;
  readonly #clock: Clock;

  constructor(options: { storage: Storage; store: AccountStore; clock?: Clock }) {
    this.#storage = options.storage;
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
  }

  /** A new account; `conflict` when the address has one already. */
  async create(email: string): Promise<Account> {
    if (!EMAIL.test(email) || email.length > LONGEST_EMAIL) {
      throw new ScenepressError('invalid_request', `"${email.slice(0, 80)}" is not an e-mail address.`);
    }
    const account: Account = { accountId: randomId('acct'), email, createdAtMs: this.#clock.now() };
    await this.#storage.transaction((tx) => this.#store.insertAccount(tx, account));
    return account;
  }

  /** The account with that address; `not_found` when there is none. */
  async byEmail(email: string): Promise<Account> {
    const account = await this.#store.findAccountByEmail(email);
    if (!account) throw new ScenepressError('not_found', `There is no account with the address ${email}.`);
    return account;
  }

  /** The account with that address or user id; `not_found` when there is none. `deleted`: by its id one that was, too. */
  async find(reference: string, { deleted = false }: { deleted?: boolean } = {}): Promise<Account> {
    if (reference.includes('@')) return this.byEmail(reference);
    const account = await this.#store.getAccount(reference);
    if (!account || (account.deletedAtMs !== undefined && !deleted))
      throw new ScenepressError('not_found', `There is no account ${reference.slice(0, 80)}.`);
    return account;
  }

  /** From now on its keys open nothing. Its jobs go on; doing so again changes nothing. */
  disable(accountId: string): Promise<Account> {
    return this.#change(accountId, (account) => ({ disabledAtMs: this.#clock.now(), ...account }));
  }

  /** Its keys open again. */
  enable(accountId: string): Promise<Account> {
    return this.#change(accountId, ({ disabledAtMs: _, ...account }) => account);
  }

  /** Removes its address, for good. Its id stays, for the books. Disable it first. */
  async delete(accountId: string): Promise<void> {
    await this.#storage.transaction(async (tx) => {
      const account = await this.#store.getAccount(accountId, tx);
      assert(account?.disabledAtMs !== undefined, 'an account is disabled before it is deleted');
      const deletedAtMs = account.deletedAtMs ?? this.#clock.now();
      await this.#store.forgetAddress(tx, { ...account, email: '', deletedAtMs });
    });
  }

  /** Looked up on every request, so that it holds at once. */
  async isEnabled(accountId: string): Promise<boolean> {
    const account = await this.#store.getAccount(accountId);
    return account !== undefined && account.disabledAtMs === undefined;
  }

  /** Oldest first, without deleted ones. */
  async list(): Promise<Account[]> {
    return (await this.#store.listAccounts()).filter(({ deletedAtMs }) => deletedAtMs === undefined);
  }

  #change(accountId: string, change: (account: Account) => Account): Promise<Account> {
    return this.#storage.transaction(async (tx) => {
      const account = await this.#store.getAccount(accountId, tx);
      if (!account) throw new ScenepressError('not_found', `There is no account ${accountId}.`);
      const changed = change(account);
      await this.#store.updateAccount(tx, changed);
      return changed;
    });
  }
}
