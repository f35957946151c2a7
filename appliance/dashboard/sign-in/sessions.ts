import { createHmac, hash, randomBytes } from 'node:crypto';
import type { Accounts, Clock } from '../../../lib/index.ts';
import {
  type AccountRole,
  isScenepressError,
  type SessionStore,
  systemClock,
} from '../../../lib/internal.ts';

const DAY_MS = 86_400_000;
/** A session ends this long after its last use. */
export const SESSION_MS: number = 7 * DAY_MS;
/** Its expiry is moved at most once a day: a write per page would cost more than the page. */
const MOVE_MS = DAY_MS;

/** Sessions per account; a further sign-in ends the oldest. */
const MOST_SESSIONS = 100;

/** The person of a session. */
export interface Viewer {
  accountId: string;
  email: string;
  role: AccountRole;
  /** Identifies the session; only in the cookie. */
  token: string;
}

/** Sessions of the dashboard. Only hashes of their tokens are stored. */
export class Sessions {
  readonly #store: SessionStore;
  readonly #accounts: Accounts;
  readonly #clock: Clock;

  constructor(options: { store: SessionStore; accounts: Accounts; clock?: Clock }) {
    this.#store = options.store;
    this.#accounts = options.accounts;
    this.#clock = options.clock ?? systemClock;
  }

  /** Starts a session and returns its token. */
  async begin(accountId: string): Promise<string> {
    const token = newToken();
    const now = Math.floor(this.#clock.now());
    await this.#store.removeExpiredSessions(now);
    const session = { tokenHash: hashOf(token), accountId, createdAtMs: now, expiresAtMs: now + SESSION_MS };
    await this.#store.insertSession(session, { most: MOST_SESSIONS });
    return token;
  }

  /** The person of a live session of an enabled account. */
  async find(token: string): Promise<Viewer | undefined> {
    const tokenHash = hashOf(token);
    const session = await this.#store.getSession(tokenHash);
    const now = this.#clock.now();
    if (!session || session.expiresAtMs <= now) return undefined;
    const account = await this.#accounts.find(session.accountId).catch((error: unknown) => {
      if (!isScenepressError(error, 'not_found')) throw error;
    });
    if (!account || account.disabledAtMs !== undefined) return undefined;
    if (session.expiresAtMs < now + SESSION_MS - MOVE_MS) {
      await this.#store.extendSession(tokenHash, Math.floor(now) + SESSION_MS);
    }
    const { accountId, email, role = 'member' } = account;
    return { accountId, email, role, token };
  }

  async end(token: string): Promise<void> {
    await this.#store.removeSession(hashOf(token));
  }

  async endAll(accountId: string): Promise<void> {
    await this.#store.removeSessionsOf(accountId);
  }
}

/** 256 random bits. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The value that forms of a session carry against cross-site requests. It doesn't reveal the token. */
export function formTokenOf(token: string): string {
  return createHmac('sha256', token).update('form').digest('base64url');
}

function hashOf(token: string): string {
  return hash('sha256', token);
}
