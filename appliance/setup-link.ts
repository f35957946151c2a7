import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Account, Accounts, MasterKeys } from '../lib/index.ts';
import { FIRST_ACCOUNT, findAccount } from './first-account.ts';

/** Of a link: to claim the account of the first start as its administrator, or to choose the password of an account. */
const PURPOSES = { claim: 'set-up link', invitation: 'invitation' } as const;
type Purpose = keyof typeof PURPOSES;
export const SETUP_PATH = '/dashboard/set-up';

/**
 * One-time links with which a person chooses the password of an account. Nothing of them is stored: they are derived from
 * the master key and the hash of the password that they replace, so they are valid until the password changes. The link
 * printed at the first start makes its user an administrator.
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

  /** For the account of the first start; undefined when there is nothing to claim. */
  async url(): Promise<string | undefined> {
    const account = await this.claimable();
    return account && this.#urlFor(account, 'claim');
  }

  /** For a person who is invited to an account. */
  urlFor(account: Account): string {
    return this.#urlFor(account, 'invitation');
  }

  /** The token is in the query, which is never logged. */
  #urlFor(account: Account, purpose: Purpose): string {
    return `${this.#publicUrl()}${SETUP_PATH}?token=${this.#tokenOf(account, purpose)}`;
  }

  /** The enabled account a token belongs to, and whether its user becomes an administrator. */
  async verify(token: string): Promise<{ account: Account; isFirst: boolean } | undefined> {
    const [accountId = ''] = token.split('.', 1);
    const account = await findAccount(this.#accounts, accountId);
    if (!account || account.disabledAtMs !== undefined) return undefined;
    const isOf = (purpose: Purpose) => isSame(token, this.#tokenOf(account, purpose));
    if (isOf('invitation')) return { account, isFirst: false };
    if (!isOf('claim')) return undefined;
    return { account, isFirst: (await this.claimable())?.accountId === accountId };
  }

  /**
   * The account of the first start, while no account has a password. No other one can be claimed: it is somebody's, with
   * API keys that would become an administrator's.
   */
  async claimable(): Promise<Account | undefined> {
    if (await this.isSetUp()) return undefined;
    const account = await findAccount(this.#accounts, FIRST_ACCOUNT);
    return account?.email === FIRST_ACCOUNT ? account : undefined;
  }

  /** Whether somebody can sign in. */
  async isSetUp(): Promise<boolean> {
    for await (const { passwordHash } of this.#accounts.all()) if (passwordHash !== undefined) return true;
    return false;
  }

  #tokenOf({ accountId, passwordHash = '' }: Account, purpose: Purpose): string {
    const mac = createHmac('sha256', this.#masterKeys.current.derive(PURPOSES[purpose]));
    return `${accountId}.${mac.update(`${accountId} ${passwordHash}`).digest('base64url')}`;
  }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
