/** A person who is signed in to the dashboard. */
export interface SessionRecord {
  /** SHA-256 of the token in the cookie, hexadecimal. */
  tokenHash: string;
  /** Who signed in. */
  accountId: string;
  /** Epoch milliseconds. */
  createdAtMs: number;
  /** Epoch milliseconds. */
  expiresAtMs: number;
  /** The kind of browser in which it began, such as `Firefox/Linux`; null: not known. */
  browser: string | null;
  /** The client's address when it began; null: not known. */
  address: string | null;
}

/** The store of sessions. Each method is atomic, and durable when its promise resolves. */
export interface SessionStore {
  /** `most`: the number of sessions that the account has at most afterwards; its oldest ones are removed. */
  insertSession(session: SessionRecord, options?: { most: number }): Promise<void>;
  /** Also returns expired sessions. */
  getSession(tokenHash: string): Promise<SessionRecord | undefined>;
  /** Sessions of an account, expired ones too; newest first. */
  listSessionsOf(accountId: string): Promise<SessionRecord[]>;
  /** Moves the expiry of a session; no effect when it does not exist. */
  extendSession(tokenHash: string, expiresAtMs: number): Promise<void>;
  /** No effect when it does not exist. */
  removeSession(tokenHash: string): Promise<void>;
  /** Returns the number of sessions removed. `except`: the hash of the token of the one that stays. */
  removeSessionsOf(accountId: string, options?: { except: string | undefined }): Promise<number>;
  /** Removes sessions that expire at `nowMs` or before. */
  removeExpiredSessions(nowMs: number): Promise<void>;
}
