import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Account, Accounts, MasterKeys } from '../lib/index.ts';
import { FIRST_ACCOUNT } from './first-account.ts';

const PURPOSE = 'set-up link';
export const SETUP_PATH = '/dashboard/set-up';

/**
 * The one-time link with which the first person claims the account of the first start. Nothing of it is stored: it is
 * derived from the master key, the same at every start, and valid until an account has a password.
 */
export class SetupLink {
  readonly #accounts: Accounts;
  readonly #masterKeys: MasterKeys;
  readonly #publicUrl: () => string;

  constructor(options: { accounts: Accounts; masterKeys: MasterKeys; publicUrl: () => string }) {
    this.#accounts = options.accounts;
    this.#masterKeys = options.masterKeys;
    this.#publicUrl = options.publicUrl;
  }

  /** Undefined when there is nothing to claim. The token is in the query, which is never logged. */
  async url(): Promise<string | undefined> {
    const account = await this.claimable();
    return account && `${this.#publicUrl()}${SETUP_PATH}?token=${this.#tokenOf(account)}`;
  }

  /** The account that a token claims. */
  async accountOf(token: string): Promise<Account | undefined> {
    const account = await this.claimable();
    if (!account) return undefined;
    const [given, expected] = [Buffer.from(token), Buffer.from(this.#tokenOf(account))];
    return given.length === expected.length && timingSafeEqual(given, expected) ? account : undefined;
  }

  /**
   * The account of the first start, or the only one, while no account has a password. With several other accounts none:
   * `scenepress account set-password` says which.
   */
  async claimable(): Promise<Account | undefined> {
    const accounts = await Array.fromAsync(this.#accounts.all());
    if (accounts.some(({ passwordHash }) => passwordHash !== undefined)) return undefined;
    const usable = accounts.filter(({ deletedAtMs }) => deletedAtMs === undefined);
    return (
      usable.find(({ email }) => email === FIRST_ACCOUNT) ?? (usable.length === 1 ? usable[0] : undefined)
    );
  }

  #tokenOf({ accountId }: Account): string {
    return createHmac('sha256', this.#masterKeys.current.derive(PURPOSE))
      .update(accountId)
      .digest('base64url');
  }
}
