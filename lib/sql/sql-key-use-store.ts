import type { KeyUse, KeyUseStore } from '../keys/key-use-store.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import { KEY_USES } from './row-formats.ts';

const NOTE =
  `${KEY_USES.insert} ON CONFLICT (key_id) DO UPDATE SET used_at_ms = excluded.used_at_ms, ` +
  'checksum = excluded.checksum WHERE excluded.used_at_ms > key_uses.used_at_ms';

/** The last use of each key, in an SQL database. */
export class SqlKeyUseStore implements KeyUseStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async noteKeyUses(uses: KeyUse[]): Promise<void> {
    // Transactions that update the same rows in another order would end in a deadlock.
    const ordered = uses.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));
    await this.#database.transaction(async (tx) => {
      for (const use of ordered) await tx.run(NOTE, ...KEY_USES.row(use));
    });
  }

  async lastKeyUses(keyIds: string[]): Promise<KeyUse[]> {
    const rows = await Promise.all(keyIds.map((keyId) => this.#database.get(KEY_USES.byKey, keyId)));
    return rows.flatMap((row) => (row ? [KEY_USES.record(row)] : []));
  }
}
