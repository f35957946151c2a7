import { randomBytes } from 'node:crypto';
import type { Accounts, ApiKeys } from '../../lib/index.ts';
import type { Authenticate, Caller } from './render-api/bearer.ts';

/** The owner of what this process renders for itself. No account. */
export const HOUSE = 'house';

/**
 * Lets this process call its own API without a stored key, as an owner of its own: what it renders for itself costs
 * no account anything, and nothing that could leak or must be revoked is left behind. Known to this process only.
 */
export class HouseToken {
  readonly caller: Caller = { owner: HOUSE, keyId: null, keyPrefix: HOUSE, webhookUrl: null };
  #token: string | undefined = randomBytes(32).toString('hex');

  get token(): string {
    if (this.#token === undefined) throw new Error('the token has been given up');
    return this.#token;
  }

  /** 256 random bits that live for seconds: comparing them in varying time gives nothing away. */
  admits(token: string): boolean {
    return token === this.#token;
  }

  /** From now on it admits no one. */
  giveUp(): void {
    this.#token = undefined;
  }
}

/** Callers are who holds a live key of an account that is enabled; for the time of its life also who holds the house's token. */
export function authenticator(
  { keys, accounts }: { keys: ApiKeys; accounts: Accounts },
  house?: HouseToken,
): Authenticate {
  return async (token) => {
    if (house?.admits(token)) return house.caller;
    const key = await keys.verify(token);
    if (!key || !(await accounts.isEnabled(key.accountId))) return null;
    return { owner: key.accountId, keyId: key.keyId, keyPrefix: key.prefix, webhookUrl: key.webhookUrl };
  };
}
