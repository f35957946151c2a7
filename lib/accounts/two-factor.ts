import { hash } from 'node:crypto';
import { ScenepressError } from '../base/errors.ts';
import { allPages } from '../base/pages.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { masterKeyIdOf } from '../keys/master-key.ts';
import type { MasterKeys } from '../keys/master-keys.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { type Account, type AccountStore, withoutTwoFactor } from './account-store.ts';
import { base32Of, matchingStep } from './totp.ts';

/** As long as a SHA-1, which RFC 4226 recommends. */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 80 bits: too many to be guessed from a hash. */
const RECOVERY_BYTES = 10;
const ISSUER = 'Scenepress';

/** A secret that an account may take for its second factor. */
export interface OfferedSecret {
  /** Base32, for people who cannot scan. */
  secret: string;
  /** `otpauth://totp/…`, for authenticator apps. */
  uri: string;
  /** The secret, sealed and bound to the account: for {@link TwoFactor.turnOn}. */
  offer: string;
}

/**
 * The second factor of accounts: time-based codes (TOTP, RFC 6238) and recovery codes. A code is accepted once. Everything
 * is decided in the transaction that changes the account, so that of two servers with the same code one accepts it.
 */
export class TwoFactor {
  readonly #store: AccountStore;
  readonly #masterKeys: MasterKeys;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(options: { store: AccountStore; masterKeys: MasterKeys; clock?: Clock; random?: Random }) {
    this.#store = options.store;
    this.#masterKeys = options.masterKeys;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
  }

  /** A new secret for an account, or the one of an earlier `offer`. Nothing is stored. Error: `invalid_request`. */
  offer({ accountId, email }: Account, offer?: string): OfferedSecret {
    const secret =
      offer === undefined ? base32Of(this.#random.bytes(SECRET_BYTES)) : this.#open(accountId, offer);
    const label = encodeURIComponent(`${ISSUER}:${email}`.toWellFormed());
    return {
      secret,
      uri: `otpauth://totp/${label}?secret=${secret}&issuer=${ISSUER}`,
      offer: offer ?? this.#masterKeys.seal(`${accountId} ${secret}`),
    };
  }

  /**
   * Turns it on with an offered secret, given one of its codes. Resolves with the recovery codes, which are stored as
   * hashes only. Errors: `invalid_request` with a wrong code; `conflict` when it is already on.
   */
  async turnOn(accountId: string, { offer, code }: { offer: string; code: string }): Promise<string[]> {
    const secret = this.#open(accountId, offer);
    const totpStep = matchingStep(secret, plain(code), { atMs: this.#clock.now() });
    if (totpStep === undefined) throw wrongCode();
    const codes = this.#newCodes();
    const recoveryHashes = codes.map(hashOf).join(' ');
    const totpSecretSealed = this.#masterKeys.seal(secret);
    await this.#change(accountId, (account) => {
      if (account.totpSecretSealed !== undefined)
        throw new ScenepressError('conflict', 'Two-factor sign-in is already on. Turn it off first.');
      return { ...account, totpSecretSealed, totpStep, recoveryHashes };
    });
    await this.#resealOne(accountId);
    return codes;
  }

  /**
   * Uses up a code of the app or a recovery code, each of which is accepted once. Resolves with its kind; undefined if it
   * is wrong or used, or the account has no second factor.
   */
  async use(accountId: string, code: string): Promise<'app' | 'recovery' | undefined> {
    const given = plain(code);
    let used: 'app' | 'recovery' | undefined;
    await this.#change(accountId, (account) => {
      used = undefined;
      const { totpSecretSealed, totpStep: after, recoveryHashes = '' } = account;
      if (totpSecretSealed === undefined) return account;
      const secret = this.#masterKeys.decrypt(totpSecretSealed);
      const totpStep = matchingStep(secret, given, { atMs: this.#clock.now(), after });
      if (totpStep !== undefined) {
        used = 'app';
        return { ...account, totpStep };
      }
      const hashes = recoveryHashes.split(' ');
      const left = hashes.filter((one) => one !== hashOf(given));
      if (left.length === hashes.length) return account;
      used = 'recovery';
      return { ...account, recoveryHashes: left.join(' ') };
    });
    return used;
  }

  /** Replaces the recovery codes. Error: `conflict` when it is off. */
  async renewCodes(accountId: string): Promise<string[]> {
    const codes = this.#newCodes();
    await this.#change(accountId, (account) => {
      if (account.totpSecretSealed === undefined)
        throw new ScenepressError('conflict', 'Two-factor sign-in is off.');
      return { ...account, recoveryHashes: codes.map(hashOf).join(' ') };
    });
    return codes;
  }

  /** Idempotent. */
  turnOff(accountId: string): Promise<Account> {
    return this.#change(accountId, (account) =>
      account.totpSecretSealed === undefined ? account : withoutTwoFactor(account),
    );
  }

  /** Re-encrypts the secrets that are not sealed with the current master key. Returns their number. */
  async reseal(): Promise<number> {
    let count = 0;
    const accounts = allPages(
      (page) => this.#store.listAccounts(page),
      ({ accountId }) => accountId,
    );
    for await (const { accountId, totpSecretSealed } of accounts) {
      if (totpSecretSealed === undefined || this.#isCurrent(totpSecretSealed)) continue;
      await this.#resealOne(accountId);
      count += 1;
    }
    return count;
  }

  /** Also after turning it on: the master key may have been replaced since the secret was sealed. */
  async #resealOne(accountId: string): Promise<void> {
    await this.#change(accountId, (account) => {
      const { totpSecretSealed: sealed } = account;
      if (sealed === undefined || this.#isCurrent(sealed)) return account;
      return { ...account, totpSecretSealed: this.#masterKeys.reseal(sealed) };
    });
  }

  #isCurrent(sealed: string): boolean {
    return masterKeyIdOf(sealed) === this.#masterKeys.current.id;
  }

  #open(accountId: string, offer: string): string {
    try {
      const [owner, secret] = this.#masterKeys.decrypt(offer).split(' ');
      if (owner === accountId && secret !== undefined) return secret;
    } catch {
      // Of another master key, or made up.
    }
    throw new ScenepressError('invalid_request', 'The form has expired. Begin the set-up again.');
  }

  #newCodes(): string[] {
    return Array.from({ length: RECOVERY_CODES }, () =>
      (base32Of(this.#random.bytes(RECOVERY_BYTES)).toLowerCase().match(/.{4}/g) ?? []).join('-'),
    );
  }

  #change(accountId: string, change: (account: Account) => Account): Promise<Account> {
    return this.#store.changeAccount(accountId, (account) => {
      if (account.deletedAtMs === undefined) return change(account);
      throw new ScenepressError('not_found', `There is no account ${accountId.slice(0, 80)}.`);
    });
  }
}

/** The number of an account's unused recovery codes. */
export function recoveryCodesLeft({ recoveryHashes = '' }: Account): number {
  return recoveryHashes.split(' ').filter((one) => one !== '').length;
}

function wrongCode(): ScenepressError {
  return new ScenepressError('invalid_request', 'The code is wrong. Enter the one that the app shows now.');
}

/** As it was shown, however it was typed. */
function plain(code: string): string {
  return code.replaceAll(/[\s-]/g, '').toLowerCase();
}

function hashOf(code: string): string {
  return hash('sha256', plain(code));
}
