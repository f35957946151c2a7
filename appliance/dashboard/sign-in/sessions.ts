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
/** Its expiry, and so its last use, is moved at most this often: a write per page would cost more than the page. */
const MOVE_MS = 5 * 60_000;

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

/** Where a session begins. */
export interface Origin {
  /** The kind of browser, as `browserOf` names it. */
  browser: string | null;
  address: string | null;
}

/** A session as its account sees it. */
export interface ListedSession extends Origin {
  /** Identifies it among those of the account. */
  id: string;
  createdAtMs: number;
  /** Within {@link MOVE_MS}. */
  lastUsedAtMs: number;
  isCurrent: boolean;
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
  async begin(accountId: string, origin: Origin = { browser: null, address: null }): Promise<string> {
    const token = newToken();
    const now = Math.floor(this.#clock.now());
    await this.#store.removeExpiredSessions(now);
    const session = {
      ...{ tokenHash: hashOf(token), accountId, createdAtMs: now, expiresAtMs: now + SESSION_MS },
      ...origin,
    };
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

  /** The live sessions of a person, newest first. */
  async list({ accountId, token }: Pick<Viewer, 'accountId' | 'token'>): Promise<ListedSession[]> {
    const now = this.#clock.now();
    const own = hashOf(token);
    const sessions = await this.#store.listSessionsOf(accountId);
    return sessions
      .filter(({ expiresAtMs }) => expiresAtMs > now)
      .map(({ tokenHash, createdAtMs, expiresAtMs, browser, address }) => ({
        ...{ id: idOf(tokenHash), createdAtMs, lastUsedAtMs: expiresAtMs - SESSION_MS, browser, address },
        isCurrent: tokenHash === own,
      }));
  }

  /** Ends a session of a person by its id; false when there is none. */
  async endOne({ accountId }: Pick<Viewer, 'accountId'>, id: string): Promise<boolean> {
    const sessions = await this.#store.listSessionsOf(accountId);
    const session = sessions.find(({ tokenHash }) => idOf(tokenHash) === id);
    if (session) await this.#store.removeSession(session.tokenHash);
    return session !== undefined;
  }

  /** Ends all sessions of a person except this one. */
  async endOthers({ accountId, token }: Pick<Viewer, 'accountId' | 'token'>): Promise<void> {
    await this.#store.removeSessionsOf(accountId, { except: hashOf(token) });
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

/** Part of the hash, which pages don't show whole. */
function idOf(tokenHash: string): string {
  return tokenHash.slice(0, 24);
}

/** What is stored of a token. */
export function hashOf(token: string): string {
  return hash('sha256', token);
}
