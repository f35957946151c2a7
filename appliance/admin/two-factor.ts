import type { Account, Accounts } from '../../lib/index.ts';
import { type OfferedSecret, ScenepressError, type TwoFactor } from '../../lib/internal.ts';
import type { DataPlace } from '../place/data-place.ts';
import type { AdministrationParts } from './administration.ts';
import { type AccountInfo, accountInfo } from './administration-views.ts';

/** What proves that the person of an account asks, not only somebody with its session. */
interface Proof {
  account: string;
  password: string;
  /** Of the app, or a recovery code. */
  code: string;
}

/** The session that stays; undefined: none. The hash of its token. */
interface Kept {
  keptSession?: string | undefined;
}

/** The second factor of accounts. Requests and answers are plain data. */
export class TwoFactorAdministration {
  readonly #accounts: Accounts;
  readonly #place: DataPlace;
  readonly #twoFactor: TwoFactor;

  constructor({ accounts, place, twoFactor }: Pick<AdministrationParts, 'accounts' | 'place' | 'twoFactor'>) {
    this.#accounts = accounts;
    this.#place = place;
    this.#twoFactor = twoFactor;
  }

  /** A secret for an app, which {@link turnOn} takes; that of an earlier `offer`, if one is given. */
  async offer(request: { account: string; offer?: string | undefined }): Promise<OfferedSecret> {
    return this.#twoFactor.offer(await this.#accounts.find(request.account), request.offer);
  }

  /**
   * Turns it on, and signs the account out elsewhere. The recovery codes are shown only once. Errors: `invalid_request`
   * with a wrong password or code; `conflict` when it is already on.
   */
  async turnOn(request: Proof & Kept & { offer: string }): Promise<{ recoveryCodes: string[] }> {
    const { accountId } = await this.#verified(request);
    const { offer, code } = request;
    const given = { offer: String(offer), code: String(code) };
    const recoveryCodes = await this.#twoFactor.turnOn(accountId, given);
    await this.#signOut(accountId, request);
    return { recoveryCodes };
  }

  /** Replaces the recovery codes, which are shown only once. Errors: `invalid_request`, `conflict`. */
  async renewCodes(request: Proof): Promise<{ recoveryCodes: string[] }> {
    const { accountId } = await this.#proven(request);
    return { recoveryCodes: await this.#twoFactor.renewCodes(accountId) };
  }

  /** Turns it off, and signs the account out elsewhere. Error: `invalid_request` with a wrong password or code. */
  async turnOff(request: Proof & Kept): Promise<AccountInfo> {
    const { accountId } = await this.#proven(request);
    const changed = await this.#twoFactor.turnOff(accountId);
    await this.#signOut(accountId, request);
    return accountInfo(changed);
  }

  /** Turns it off for a person who has lost the app and the recovery codes, and signs the account out everywhere. */
  async reset(request: { account: string }): Promise<AccountInfo> {
    const { accountId } = await this.#accounts.find(request.account);
    const changed = await this.#twoFactor.turnOff(accountId);
    await this.#signOut(accountId, {});
    return accountInfo(changed);
  }

  async #signOut(accountId: string, { keptSession }: Kept): Promise<void> {
    await this.#place.sessionStore.removeSessionsOf(accountId, { except: keptSession });
  }

  async #verified({ account, password }: Omit<Proof, 'code'>): Promise<Account> {
    const { accountId, email } = await this.#accounts.find(account);
    const verified = await this.#accounts.verifyPassword(email, String(password));
    if (verified?.accountId === accountId) return verified;
    throw new ScenepressError('invalid_request', 'The password is wrong.');
  }

  async #proven(request: Proof): Promise<Account> {
    const account = await this.#verified(request);
    if ((await this.#twoFactor.use(account.accountId, String(request.code))) !== undefined) return account;
    throw new ScenepressError(
      'invalid_request',
      'The code is wrong or was already used. Enter the next one of the app, or an unused recovery code.',
    );
  }
}
