import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Account, Accounts, Clock } from '../../../lib/index.ts';
import { isScenepressError, systemClock } from '../../../lib/internal.ts';

/** How long the code of the second factor may take. */
export const SECOND_STEP_MS: number = 5 * 60_000;

/**
 * Tokens of people who have given the right password of an account with a second factor, and not its code yet. They are no
 * sessions: one only lets the same browser try codes of this account, for five minutes. Nothing of them is stored: they
 * are derived from the password's hash and the sealed secret, so a new password or secret revokes them.
 */
export class SecondStep {
  readonly #key: string;
  readonly #accounts: Pick<Accounts, 'find'>;
  readonly #clock: Clock;

  constructor(options: { signingKey: string; accounts: Pick<Accounts, 'find'>; clock?: Clock }) {
    this.#key = options.signingKey;
    this.#accounts = options.accounts;
    this.#clock = options.clock ?? systemClock;
  }

  /** `<account>.<expiry>.<code>`. `csrf`: of the browser's forms. */
  tokenFor(account: Account, csrf: string): string {
    return this.#tokenOf(account, csrf, String(Math.floor(this.#clock.now()) + SECOND_STEP_MS));
  }

  /** The enabled account whose code is to be given; undefined if the token is expired, revoked or of another browser. */
  async find(token: string | undefined, csrf: string): Promise<Account | undefined> {
    const [accountId = '', expiry = ''] = token?.split('.') ?? [];
    if (token === undefined || !(Number(expiry) > this.#clock.now())) return undefined;
    const account = await this.#accounts.find(accountId).catch((error: unknown) => {
      if (!isScenepressError(error, 'not_found')) throw error;
    });
    if (account?.totpSecretSealed === undefined || account.disabledAtMs !== undefined) return undefined;
    const [given, expected] = [token, this.#tokenOf(account, csrf, expiry)].map((text) => Buffer.from(text));
    return given?.length === expected?.length && given && expected && timingSafeEqual(given, expected)
      ? account
      : undefined;
  }

  #tokenOf(account: Account, csrf: string, expiry: string): string {
    const { accountId, passwordHash = '', totpSecretSealed = '' } = account;
    const open = `${accountId}.${expiry}`;
    const mac = createHmac('sha256', this.#key).update(
      JSON.stringify([open, csrf, passwordHash, totpSecretSealed]),
    );
    return `${open}.${mac.digest('base64url')}`;
  }
}
