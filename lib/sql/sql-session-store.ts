import type { SessionRecord, SessionStore } from '../accounts/session-store.ts';
import type { SqlDatabase, SqlTransaction } from '../storage/sql.ts';
import { SESSIONS } from './row-formats.ts';

/** SQLite takes no OFFSET without a LIMIT. */
const REMOVE_OLDEST = `DELETE FROM sessions WHERE token_hash IN (
  SELECT token_hash FROM sessions WHERE account_id = ?
  ORDER BY created_at_ms DESC, token_hash LIMIT 1000000 OFFSET ?)`;
const OF_ACCOUNT = `SELECT ${SESSIONS.names} FROM sessions WHERE account_id = ?
  ORDER BY created_at_ms DESC, token_hash`;
const EXPIRY = SESSIONS.updateOf('expiresAtMs');

/** Sessions in an SQL database. */
export class SqlSessionStore implements SessionStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async insertSession(session: SessionRecord, options?: { most: number }): Promise<void> {
    await this.#database.transaction(async (tx) => {
      if (options) {
        // Sessions that are inserted at the same time are neither visible nor removed.
        await tx.lock(`sessions of ${session.accountId}`);
        await tx.run(REMOVE_OLDEST, session.accountId, options.most - 1);
      }
      await tx.run(SESSIONS.insert, ...SESSIONS.row(session));
    });
  }

  async getSession(tokenHash: string): Promise<SessionRecord | undefined> {
    const row = await this.#database.get(SESSIONS.byKey, tokenHash);
    return row && SESSIONS.record(row);
  }

  async listSessionsOf(accountId: string): Promise<SessionRecord[]> {
    const rows = await this.#database.all(OF_ACCOUNT, accountId);
    return rows.map((row) => SESSIONS.record(row));
  }

  async extendSession(tokenHash: string, expiresAtMs: number): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const row = await tx.getForUpdate(SESSIONS.byKey, tokenHash);
      if (row) await tx.run(EXPIRY.text, ...EXPIRY.values({ ...SESSIONS.record(row), expiresAtMs }));
    });
  }

  async removeSession(tokenHash: string): Promise<void> {
    await this.#run((tx) => tx.run('DELETE FROM sessions WHERE token_hash = ?', tokenHash));
  }

  removeSessionsOf(accountId: string, options: { except?: string | undefined } = {}): Promise<number> {
    // No hash is empty.
    const { except = '' } = options;
    return this.#run((tx) =>
      tx.run('DELETE FROM sessions WHERE account_id = ? AND token_hash <> ?', accountId, except),
    );
  }

  async removeExpiredSessions(nowMs: number): Promise<void> {
    await this.#run((tx) => tx.run('DELETE FROM sessions WHERE expires_at_ms <= ?', Math.floor(nowMs)));
  }

  #run(work: (tx: SqlTransaction) => Promise<number>): Promise<number> {
    return this.#database.transaction(work);
  }
}
