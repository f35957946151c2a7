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

  /** Oldest first. */
  list(): Promise<Account[]> {
    return this.#store.listAccounts();
  }
}
