import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Account, Accounts, Clock, MasterKeys } from '../../lib/index.ts';
import { systemClock } from '../../lib/internal.ts';
import { FIRST_ACCOUNT, findAccount } from './first-account.ts';

/** Of a link: to claim the account of the first start as its administrator, or to choose the password of an account. */
const PURPOSES = { claim: 'set-up link', invitation: 'invitation' } as const;
type Purpose = keyof typeof PURPOSES;
/** An invitation lies in mailboxes and chats, where others may find it later. */
export const INVITATION_DAYS = 7;
const INVITATION_MS: number = INVITATION_DAYS * 86_400_000;
export const SETUP_PATH = '/dashboard/set-up';

/** What a token is worth: of an account, and whether its user becomes an administrator; else why it is worth nothing. */
export type Verified = { account: Account; isFirst: boolean } | 'expired' | 'invalid';

/**
 * One-time links with which a person chooses the password of an account. Nothing of them is stored: they are derived from
 * the master key and the hash of the password that they replace, so they are valid until the password changes. An
 * invitation also expires. The link printed at the first start makes its user an administrator, and is worth nothing once
 * any account has a password.
 */
export class SetupLink {
  readonly #accounts: Accounts;
  readonly #masterKeys: MasterKeys;
  readonly #publicUrl: () => string;
  readonly #clock: Clock;

  constructor(options: {
    accounts: Accounts;
    masterKeys: MasterKeys;
    publicUrl: () => string;
    clock?: Clock;
  }) {
    this.#accounts = options.accounts;
    this.#masterKeys = options.masterKeys;
    this.#publicUrl = options.publicUrl;
    this.#clock = options.clock ?? systemClock;
  }

  /** For the account of the first start; undefined when there is nothing to claim. */
  async url(): Promise<string | undefined> {
    const account = await this.claimable();
    return account && this.#urlOf(this.#tokenOf(account, 'claim'));
  }

  /** For a person who is invited to an account. */
  invitationTo(account: Account): { url: string; expiresAtMs: number } {
    const expiresAtMs = Math.floor(this.#clock.now()) + INVITATION_MS;
    return { url: this.#urlOf(this.#tokenOf(account, 'invitation', String(expiresAtMs))), expiresAtMs };
  }

  /** The token is in the query, which is never logged. */
  #urlOf(token: string): string {
    return `${this.#publicUrl()}${SETUP_PATH}?token=${token}`;
  }

  /** A token of a disabled account is invalid. */
  async verify(token: string): Promise<Verified> {
    const [accountId = '', expiry = ''] = token.split('.');
    const account = await findAccount(this.#accounts, accountId);
    if (!account || account.disabledAtMs !== undefined) return 'invalid';
    if (isSame(token, this.#tokenOf(account, 'invitation', expiry))) {
      return Number(expiry) > this.#clock.now() ? { account, isFirst: false } : 'expired';
    }
    if (!isSame(token, this.#tokenOf(account, 'claim'))) return 'invalid';
    return (await this.claimable())?.accountId === accountId ? { account, isFirst: true } : 'invalid';
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

  /** `<account>.<code>`, with the time of its expiry between them if it has one. */
  #tokenOf({ accountId, passwordHash = '' }: Account, purpose: Purpose, expiry?: string): string {
    const open = expiry === undefined ? accountId : `${accountId}.${expiry}`;
    const mac = createHmac('sha256', this.#masterKeys.current.derive(PURPOSES[purpose]));
    return `${open}.${mac.update(`${open} ${passwordHash}`).digest('base64url')}`;
  }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
