import assert from 'node:assert/strict';
import { type Clock, systemClock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { randomId } from '../ids.ts';
import { allPages, type Page } from '../pages.ts';
import type { Account, AccountStore } from './account-store.ts';
import { isEmail } from './email.ts';

/** Makes and finds the owners of keys, jobs and credits. */
export class Accounts {
  readonly #store: AccountStore;
  readonly #clock: Clock;

  constructor(options: { store: AccountStore; clock?: Clock }) {
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
  }

  /** A new account; `conflict` when the address has one already. */
  async create(email: string): Promise<Account> {
    if (!isEmail(email)) {
      throw new ScenepressError('invalid_request', `"${email.slice(0, 80)}" is not an e-mail address.`);
    }
    const account: Account = { accountId: randomId('acct'), email, createdAtMs: this.#clock.now() };
    await this.#store.insertAccount(account);
    return account;
  }

  /**
   * The account with that address or user id; `not_found` when there is none. `deleted`: one that is being deleted, too,
   * or, by its id, was.
   */
  async find(reference: string, { deleted = false }: { deleted?: boolean } = {}): Promise<Account> {
    const isAddress = reference.includes('@');
    const account = await (isAddress
      ? this.#store.findAccountByEmail(reference)
      : this.#store.getAccount(reference));
    if (account && (deleted || account.deletedAtMs === undefined)) return account;
    throw noAccount(isAddress ? `with the address ${reference}` : reference.slice(0, 80));
  }

  /** From now on its keys are rejected. Its jobs go on; doing so again changes nothing. */
  disable(accountId: string): Promise<Account> {
    return this.#store.changeAccount(accountId, (account) =>
      account.disabledAtMs === undefined ? { ...account, disabledAtMs: this.#clock.now() } : account,
    );
  }

  /** Its keys are accepted again. */
  enable(accountId: string): Promise<Account> {
    return this.#store.changeAccount(accountId, (account) => {
      const { disabledAtMs, ...enabled } = account;
      if (account.deletedAtMs !== undefined) throw noAccount(accountId);
      return disabledAtMs === undefined ? account : enabled;
    });
  }

  /**
   * Begins to delete it: it is disabled for good, and found only by who asks for deleted ones. Its address stays until
   * {@link completeDeletion}, so that what was cut off in between can be repeated by it.
   */
  beginDeletion(accountId: string): Promise<Account> {
    return this.#store.changeAccount(accountId, (account) => {
      if (account.deletedAtMs !== undefined) return account;
      const now = this.#clock.now();
      return { disabledAtMs: now, ...account, deletedAtMs: now };
    });
  }

  /** Removes its address, for good. Its id stays, for the books. */
  async completeDeletion(accountId: string): Promise<void> {
    await this.#store.changeAccount(accountId, (account) => {
      assert(account.deletedAtMs !== undefined, 'its deletion was begun');
      return account.email === '' ? account : { ...account, email: '' };
    });
  }

  /** Looked up on every request, so that it holds at once. */
  async isEnabled(accountId: string): Promise<boolean> {
    const account = await this.#store.getAccount(accountId);
    return account !== undefined && account.disabledAtMs === undefined;
  }

  /** Oldest first, without deleted ones; those that are being deleted are among them. */
  list(page?: Page): Promise<Account[]> {
    return this.#store.listAccounts(page);
  }

  /** The same, all of them. */
  all(): AsyncGenerator<Account> {
    return allPages(
      (page) => this.#store.listAccounts(page),
      ({ accountId }) => accountId,
    );
  }
}

function noAccount(name: string): ScenepressError {
  return new ScenepressError('not_found', `There is no account ${name}.`);
}
