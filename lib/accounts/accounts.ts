import assert from 'node:assert/strict';
import { ScenepressError } from '../base/errors.ts';
import { known, type Names } from '../base/known-options.ts';
import { allPages } from '../base/pages.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { randomId } from '../model/ids.ts';
import type { Transaction } from '../storage/transaction.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import type { Account, AccountQuery, AccountRole, AccountStore } from './account-store.ts';
import { isEmail } from './email.ts';
import { checkIdentity, type Identity } from './identity.ts';
import { checkPassword, hashPassword, PASSWORD_COST, type PasswordCost, verifyPassword } from './password.ts';

/** Limits of an account of its own; null: those of all accounts. */
export interface AccountLimits {
  /** Jobs that may wait. */
  maxQueued?: number | null;
  /** MiB of files. */
  maxFilesMb?: number | null;
  /** Scenes. */
  maxScenes?: number | null;
}

/** What an account may have from the beginning. */
export interface AccountOptions {
  /** Never used before. Default: a random one. */
  accountId?: string;
  /** With which it signs in to the dashboard. Default: none yet. */
  password?: string;
}

const NEW: Names<AccountOptions> = { accountId: true, password: true };
const LIMITS: Names<AccountLimits> = { maxQueued: true, maxFilesMb: true, maxScenes: true };
const MIB = 1024 ** 2;

/**
 * Manages accounts, the owners of keys, jobs and credits.
 *
 * ```ts
 * const accounts = new Accounts({ store: dataFolder.accountStore });
 * const { accountId } = await accounts.create('ada@example.com');
 * const service = new RenderService({ dataFolder, admitsOwner: (owner) => accounts.isEnabled(owner) });
 * ```
 */
export class Accounts {
  readonly #store: AccountStore;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #passwordCost: PasswordCost;

  /** `passwordCost`: of new passwords; by default 32 MiB and 0.2 s, as OWASP recommends. */
  constructor(options: { store: AccountStore; passwordCost?: PasswordCost; clock?: Clock; random?: Random }) {
    known('Accounts', options, { store: true, passwordCost: true, clock: true, random: true });
    this.#store = options.store;
    this.#passwordCost = options.passwordCost ?? PASSWORD_COST;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
  }

  /** Creates an account. Errors: `invalid_request`; `conflict` when the address is in use. */
  async create(email: string, options: AccountOptions = {}): Promise<Account> {
    const { accountId = newAccountId(this.#random), password } = known('create', options, NEW);
    checkEmail(email);
    if (password !== undefined) checkPassword(password);
    const account: Account = {
      ...{ accountId, email, createdAtMs: this.#clock.now() },
      ...(password !== undefined && {
        passwordHash: await hashPassword(password, this.#passwordCost, this.#random),
      }),
    };
    await this.#store.insertAccount(account);
    return account;
  }

  /**
   * Finds an account by address or user id. `deleted`: includes accounts that are being deleted and, by id, deleted
   * ones. Error: `not_found`.
   */
  async find(reference: string, options: { deleted?: boolean } = {}): Promise<Account> {
    const { deleted = false } = known('find', options, { deleted: true });
    const isAddress = reference.includes('@');
    const account = await (isAddress
      ? this.#store.findAccountByEmail(reference)
      : this.#store.getAccount(reference));
    if (account && (deleted || account.deletedAtMs === undefined)) return account;
    throw noAccount(isAddress ? `with the address ${reference}` : reference.slice(0, 80));
  }

  /** Disables an account: its keys are rejected immediately; its jobs continue. Idempotent. */
  disable(accountId: string): Promise<Account> {
    return this.#store.changeAccount(accountId, (account) =>
      account.disabledAtMs === undefined ? { ...account, disabledAtMs: this.#clock.now() } : account,
    );
  }

  /** Enables an account: its keys are accepted again. */
  enable(accountId: string): Promise<Account> {
    return this.#store.changeAccount(accountId, (account) => {
      const { disabledAtMs, ...enabled } = existing(account);
      return disabledAtMs === undefined ? account : enabled;
    });
  }

  /**
   * Starts the deletion of an account: disables it permanently and hides it from {@link find}. The address is kept
   * until {@link completeDeletion}, so an interrupted deletion can be repeated by address.
   */
  beginDeletion(accountId: string): Promise<Account> {
    return this.#store.changeAccount(accountId, (account) => {
      if (account.deletedAtMs !== undefined) return account;
      const now = this.#clock.now();
      return { disabledAtMs: now, ...account, deletedAtMs: now };
    });
  }

  /** Erases the address of an account. The id is kept for the ledger. */
  async completeDeletion(accountId: string): Promise<void> {
    await this.#store.changeAccount(accountId, (account) => {
      assert(account.deletedAtMs !== undefined, 'beginDeletion() is called first');
      if (account.email === '') return account;
      const { accountId, createdAtMs, disabledAtMs, deletedAtMs } = account;
      return {
        ...{ accountId, createdAtMs, email: '' },
        ...(disabledAtMs !== undefined && { disabledAtMs }),
        ...(deletedAtMs !== undefined && { deletedAtMs }),
      };
    });
  }

  /**
   * Sets the password of an account, and optionally its address and role. `replaces`: only if this is still the hash of
   * its password; null: only if it has none. Errors: `invalid_request`; `conflict` when the address is in use, or when
   * the password was changed.
   */
  async setPassword(
    accountId: string,
    change: { password: string; email?: string; role?: AccountRole; replaces?: string | null },
  ): Promise<Account> {
    const names = { password: true, email: true, role: true, replaces: true };
    const { password, email, role, replaces } = known('setPassword', change, names);
    checkPassword(password);
    if (email !== undefined) checkEmail(email);
    const passwordHash = await hashPassword(password, this.#passwordCost, this.#random);
    return this.#store.changeAccount(accountId, (account) => {
      existing(account);
      if (replaces !== undefined && (account.passwordHash ?? null) !== replaces) {
        throw new ScenepressError('conflict', 'The password of the account was changed meanwhile.');
      }
      return { ...account, ...(email !== undefined && { email }), ...(role && { role }), passwordHash };
    });
  }

  /** Changes what an account may do in the dashboard. Error: `not_found`. */
  setRole(accountId: string, role: AccountRole): Promise<Account> {
    return this.#store.changeAccount(accountId, (account) => ({ ...existing(account), role }));
  }

  /**
   * Changes how many jobs of an account may wait, how many MiB its files may take, and how many scenes it may have; null: as
   * many as any account. Errors: `invalid_request`, `not_found`.
   */
  async setLimits(accountId: string, limits: AccountLimits): Promise<Account> {
    const given = known('setLimits', limits, LIMITS);
    for (const limit of Object.values(given)) {
      if (limit === null || limit === undefined || (Number.isSafeInteger(limit) && limit >= 1)) continue;
      throw new ScenepressError('invalid_request', 'A limit is a whole number of at least 1.');
    }
    return this.#store.changeAccount(accountId, (account) => {
      const { maxQueued, maxFilesMb, maxScenes, ...rest } = existing(account);
      const changed = { maxQueued, maxFilesMb, maxScenes, ...given };
      return {
        ...rest,
        ...(typeof changed.maxQueued === 'number' && { maxQueued: changed.maxQueued }),
        ...(typeof changed.maxFilesMb === 'number' && { maxFilesMb: changed.maxFilesMb }),
        ...(typeof changed.maxScenes === 'number' && { maxScenes: changed.maxScenes }),
      };
    });
  }

  /** Its own limit of files, as the options of a service take it. */
  async fileLimitsOf(accountId: string, tx?: Transaction): Promise<{ mostBytes: number } | undefined> {
    const mib = (await this.#store.getAccount(accountId, tx))?.maxFilesMb;
    return mib === undefined ? undefined : { mostBytes: mib * MIB };
  }

  /** Its own limit of scenes, as the options of a service take it. */
  async sceneLimitsOf(accountId: string, tx?: Transaction): Promise<{ mostScenes: number } | undefined> {
    const mostScenes = (await this.#store.getAccount(accountId, tx))?.maxScenes;
    return mostScenes === undefined ? undefined : { mostScenes };
  }

  /**
   * Links an account to a person, whose access tokens act for it from then on; null removes the link. Errors:
   * `invalid_request`, `not_found`; `conflict` when they act for another account.
   */
  setIdentity(accountId: string, identity: Identity | null): Promise<Account> {
    if (identity !== null) checkIdentity(identity);
    return this.#store.changeAccount(accountId, (account) => {
      const { issuer: _, subject: __, ...rest } = existing(account);
      return identity === null ? rest : { ...rest, ...identity };
    });
  }

  /** The enabled account for which access tokens of a person act. Read for each request, so changes take effect at once. */
  async ofIdentity(identity: Identity): Promise<Account | undefined> {
    const account = await this.#store.findAccountByIdentity(identity);
    return account?.disabledAtMs === undefined ? account : undefined;
  }

  /** Its own limit of waiting jobs, as the queue options of a service take it. */
  async maxQueuedOf(accountId: string, tx?: Transaction): Promise<number | undefined> {
    return (await this.#store.getAccount(accountId, tx))?.maxQueued;
  }

  /** The enabled account with this address and password. Takes equally long if there is none. */
  async verifyPassword(email: string, password: string): Promise<Account | undefined> {
    const account = await this.#store.findAccountByEmail(email);
    const isRight = await verifyPassword(password, account?.passwordHash, this.#passwordCost);
    return isRight && account && account.disabledAtMs === undefined ? account : undefined;
  }

  /** Called on every request, so changes take effect immediately. `tx`: that of `admitsOwner`. */
  async isEnabled(accountId: string, tx?: Transaction): Promise<boolean> {
    const account = await this.#store.getAccount(accountId, tx);
    return account !== undefined && account.disabledAtMs === undefined;
  }

  /** Lists accounts, oldest first: without deleted ones, but including those being deleted. */
  async list(query: AccountQuery = {}): Promise<Account[]> {
    known('list', query, { limit: true, after: true, text: true });
    return this.#store.listAccounts(query);
  }

  /** Iterates over all of these accounts. */
  all(): AsyncGenerator<Account> {
    return allPages(
      (page) => this.#store.listAccounts(page),
      ({ accountId }) => accountId,
    );
  }
}

/** A random id for an account. */
export function newAccountId(random: Random): string {
  return randomId('acct', random);
}

/** The account, unless it was deleted meanwhile. Error: `not_found`. */
function existing(account: Account): Account {
  if (account.deletedAtMs !== undefined) throw noAccount(account.accountId);
  return account;
}

function checkEmail(email: string): void {
  if (isEmail(email)) return;
  throw new ScenepressError('invalid_request', `"${email.slice(0, 80)}" is not an e-mail address.`);
}

function noAccount(name: string): ScenepressError {
  return new ScenepressError('not_found', `There is no account ${name}.`);
}
