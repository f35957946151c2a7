import assert from 'node:assert/strict';
import { ScenepressError } from '../base/errors.ts';
import { DEFAULT_PAGE } from '../base/pages.ts';
import type { KeyQuery, KeyRecord, KeyStore } from '../keys/key-store.ts';
import type { ResealedStep } from '../keys/sealed-secrets.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import { KEYS } from './account-row-formats.ts';
import { startOfPage } from './page-order.ts';
import { resealRows } from './reseal-rows.ts';

/** Secrets re-encrypted per transaction. */
const RESEALED_AT_ONCE = 200;

/** API keys in an SQL database. */
export class SqlKeyStore implements KeyStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async insertKey(key: KeyRecord): Promise<void> {
    await this.#database.transaction((tx) => tx.run(KEYS.insert, ...KEYS.row(key)));
  }

  changeKey(keyId: string, change: (key: KeyRecord) => KeyRecord): Promise<KeyRecord> {
    return this.#database.transaction(async (tx) => {
      const row = await tx.getForUpdate(KEYS.byKey, keyId);
      if (!row) throw new ScenepressError('not_found', `There is no key ${keyId.slice(0, 80)}.`);
      const key = KEYS.record(row);
      const changed = change(key);
      if (changed === key) return key;
      const { accountId, hash, createdAtMs } = key;
      assert(changed.keyId === keyId && changed.accountId === accountId);
      assert(changed.hash === hash && changed.createdAtMs === createdAtMs);
      await tx.run(KEYS.update, ...KEYS.changes(changed));
      return changed;
    });
  }

  async getKey(keyId: string): Promise<KeyRecord | undefined> {
    const row = await this.#database.get(KEYS.byKey, keyId);
    return row && KEYS.record(row);
  }

  async findKeyByHash(hash: string): Promise<KeyRecord | undefined> {
    const row = await this.#database.get(`SELECT ${KEYS.names} FROM api_keys WHERE hash = ?`, hash);
    return row && KEYS.record(row);
  }

  async listKeys({ accountId, liveAtMs, limit = DEFAULT_PAGE, after }: KeyQuery = {}): Promise<KeyRecord[]> {
    const start = await startOfPage(this.#database, KEYS, 'key', after);
    const rows = await this.#database.all(
      `SELECT ${KEYS.names} FROM api_keys WHERE ${accountId === undefined ? '' : 'account_id = ? AND '}
         ${liveAtMs === undefined ? '' : 'revoked_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ?) AND '}(created_at_ms, key_id) > (?, ?) ORDER BY created_at_ms, key_id LIMIT ?`,
      ...(accountId === undefined ? [] : [accountId]),
      ...(liveAtMs === undefined ? [] : [liveAtMs]),
      ...start,
      limit,
    );
    return rows.map((row) => KEYS.record(row));
  }

  async resealSecrets(reseal: (sealed: string) => string): Promise<number> {
    let count = 0;
    for (let from: string | undefined; ; ) {
      const step = { reseal, from, limit: RESEALED_AT_ONCE };
      const { replaced, next }: ResealedStep = await resealRows(
        this.#database,
        KEYS,
        'webhookSecretSealed',
        step,
      );
      count += replaced;
      if (next === undefined) return count;
      from = next;
    }
  }
}
