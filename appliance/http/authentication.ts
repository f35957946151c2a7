import { randomBytes } from 'node:crypto';
import type { Accounts, ApiKeys } from '../../lib/index.ts';
import type { Authenticate, Caller } from '../../lib/web/index.ts';
import type { KeyRate } from './key-rate.ts';
import type { KeyUses } from './key-uses.ts';

/** Owner of jobs that this process renders for itself; not an account. Stored with jobs: keep the value. */
export const INTERNAL_OWNER = 'internal';

/**
 * Lets this process call its own API as {@link INTERNAL_OWNER} without a stored key: such renders are charged to no
 * account, and no key remains that could leak or must be revoked. The token never leaves this process.
 */
export class InternalToken {
  readonly caller: Caller = {
    owner: INTERNAL_OWNER,
    keyId: null,
    keyPrefix: INTERNAL_OWNER,
    webhookUrl: null,
  };
  #token: string | undefined = randomBytes(32).toString('hex');

  get token(): string {
    if (this.#token === undefined) throw new Error('the internal token has been revoked');
    return this.#token;
  }

  /** Compares in variable time, which is safe for 256 random bits that are valid for seconds. */
  matches(token: string): boolean {
    return token === this.#token;
  }

  revoke(): void {
    this.#token = undefined;
  }
}

/**
 * Accepts live keys of enabled accounts and, while it is valid, this process's own token. Error: `too_many_requests` for
 * a key that is used too often.
 */
export function authenticator(
  {
    keys,
    accounts,
    keyUses,
    keyRate,
  }: { keys: ApiKeys; accounts: Accounts; keyUses: KeyUses; keyRate: KeyRate },
  internalToken?: InternalToken,
): Authenticate {
  return async (token) => {
    if (internalToken?.matches(token)) return internalToken.caller;
    const key = await keys.verify(token);
    if (!key || !(await accounts.isEnabled(key.accountId))) return null;
    const { accountId: owner, keyId, prefix: keyPrefix, webhookUrl, scopes } = key;
    keyRate.count(keyId);
    keyUses.note(keyId);
    return { owner, keyId, keyPrefix, webhookUrl, scopes };
  };
}
