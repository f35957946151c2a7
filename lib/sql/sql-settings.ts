import { DEFAULT_SETTINGS, type Settings, type SettingsStore } from '../storage/settings-store.ts';
import type { SqlDatabase, SqlReader } from '../storage/sql.ts';
import { SETTINGS } from './account-row-formats.ts';

const ID = 1;

/** Settings in an SQL database. */
export class SqlSettings implements SettingsStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async getSettings(): Promise<Settings> {
    return (await read(this.#database)) ?? DEFAULT_SETTINGS;
  }

  changeSettings(change: (settings: Settings) => Settings): Promise<Settings> {
    return this.#database.transaction(async (tx) => {
      await tx.lock('settings');
      const before = await read(tx);
      const changed = change(before ?? DEFAULT_SETTINGS);
      const row = { settingsId: ID, ...changed };
      if (before) await tx.run(SETTINGS.update, ...SETTINGS.changes(row));
      else await tx.run(SETTINGS.insert, ...SETTINGS.row(row));
      return changed;
    });
  }
}

async function read(reader: SqlReader): Promise<Settings | undefined> {
  const row = await reader.get(SETTINGS.byKey, ID);
  if (!row) return undefined;
  const { settingsId: _, ...settings } = SETTINGS.record(row);
  return settings;
}
