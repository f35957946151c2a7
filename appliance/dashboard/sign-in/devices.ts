import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Account } from '../../../lib/index.ts';
import { newToken } from './sessions.ts';

/**
 * Tokens of browsers in which a person has signed in before. They are no sessions: the only thing that one grants is that
 * the failures of others don't count for signing in to this account. Nothing of them is stored: they are derived from
 * the hash of the password, so a new password revokes them.
 */
export class Devices {
  readonly #key: string;

  constructor({ signingKey }: { signingKey: string }) {
    this.#key = signingKey;
  }

  /** `<id>.<code>`; the id is random. */
  tokenFor(account: Account): string {
    return this.#tokenOf(newToken(), account);
  }

  /** The id of the device that has signed in to this account before; undefined if the token is no proof of it. */
  find(token: string, account: Account | undefined): string | undefined {
    if (account?.passwordHash === undefined) return undefined;
    const [id = ''] = token.split('.', 1);
    const [given, expected] = [Buffer.from(token), Buffer.from(this.#tokenOf(id, account))];
    return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined;
  }

  #tokenOf(id: string, { accountId, passwordHash = '' }: Account): string {
    const mac = createHmac('sha256', this.#key).update(`${id} ${accountId} ${passwordHash}`);
    return `${id}.${mac.digest('base64url')}`;
  }
}
