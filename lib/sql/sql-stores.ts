import type { AccountStore } from '../accounts/account-store.ts';
import type { ActStore } from '../accounts/act-store.ts';
import type { SessionStore } from '../accounts/session-store.ts';
import { known } from '../base/known-options.ts';
import { type Random, systemRandom } from '../base/random.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { KeyUseStore } from '../keys/key-use-store.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import type { SettingsStore } from '../storage/settings-store.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import type { Storage } from '../storage/storage.ts';
import { POSTGRES_SCHEMA } from './postgres/schema.ts';
import { ACCOUNT_LIMITS } from './schema/account-limits.ts';
import { ACCOUNT_TABLES } from './schema/accounts.ts';
import { IDENTITIES } from './schema/identities.ts';
import { KEY_LIMITS } from './schema/key-limits.ts';
import { SCENE_LIMITS } from './schema/scene-limits.ts';
import { TWO_FACTOR } from './schema/two-factor.ts';
import { SqlAccountStore } from './sql-account-store.ts';
import { SqlActStore } from './sql-act-store.ts';
import { SqlKeyStore } from './sql-key-store.ts';
import { SqlKeyUseStore } from './sql-key-use-store.ts';
import { SqlLedgerStore } from './sql-ledger-store.ts';
import { SqlSessionStore } from './sql-session-store.ts';
import { SqlSettings } from './sql-settings.ts';
import { SqlStorage } from './sql-storage.ts';
import { SQLITE_SCHEMA } from './sqlite/schema.ts';

/** What a service keeps in an SQL database. All of it opens and closes with the storage, and commits together. */
export interface SqlStores extends Storage {
  /** For `new StoredLedger({ store })`. */
  readonly ledgerStore: LedgerStore;
  /** The settings, for all processes. */
  readonly settings: SettingsStore;
  /** For `new Accounts({ store })`. */
  readonly accountStore: AccountStore;
  /** For `new ApiKeys({ store })`. */
  readonly keyStore: KeyStore;
  /** When keys were last used. */
  readonly keyUseStore: KeyUseStore;
  /** Sessions of the dashboard. */
  readonly sessionStore: SessionStore;
  /** The record of administrative acts. */
  readonly actStore: ActStore;
}

/**
 * The statements that make the tables of a {@link SqlDatabase}, for databases that speak SQLite's SQL and for those that speak
 * Postgres'. Oldest first: its `start` applies those that it has not applied yet, each in a transaction in which it
 * records that. Texts in these lists never change, and later versions append others.
 */
export const SQL_SCHEMAS: Record<'sqlite' | 'postgres', readonly string[]> = {
  // A data folder has files instead of the tables of accounts and keys.
  sqlite: [
    ACCOUNT_TABLES,
    ...SQLITE_SCHEMA.migrations.texts.slice(0, 4),
    KEY_LIMITS,
    ...SQLITE_SCHEMA.migrations.texts.slice(4, 5),
    ACCOUNT_LIMITS + IDENTITIES,
    ...SQLITE_SCHEMA.migrations.texts.slice(5, 9),
    SCENE_LIMITS + TWO_FACTOR,
    ...SQLITE_SCHEMA.migrations.texts.slice(9),
  ],
  postgres: POSTGRES_SCHEMA.migrations.texts,
};

/** Options of {@link sqlStorage}. */
export interface SqlStorageOptions {
  /** The source of keys and nonces. Default: cryptographically secure. */
  random?: Random;
}

/**
 * All that a service keeps, in an SQL database of yours. Needs the tables of {@link SQL_SCHEMAS}.
 *
 * ```ts
 * const storage = sqlStorage(new MyDatabase('studio.db', SQL_SCHEMAS.sqlite));
 * const ledger = new StoredLedger({ store: storage.ledgerStore });
 * const service = new RenderService({ storage, ledger, assets: new FileAssetStore('./renders'), workFolder: './work' });
 * ```
 */
export function sqlStorage(database: SqlDatabase, options: SqlStorageOptions = {}): SqlStores {
  const { random = systemRandom } = known('sqlStorage', options, { random: true });
  const storage = new SqlStorage(database, random);
  return Object.assign(storage, {
    ...(database.nowMs && { nowMs: database.nowMs.bind(database) }),
    ...(database.lead && { lead: database.lead.bind(database) }),
    ...(database.purgeDue && { purgeDue: database.purgeDue.bind(database) }),
    ledgerStore: new SqlLedgerStore(database, storage),
    settings: new SqlSettings(database),
    accountStore: new SqlAccountStore(database),
    keyStore: new SqlKeyStore(database),
    keyUseStore: new SqlKeyUseStore(database),
    sessionStore: new SqlSessionStore(database),
    actStore: new SqlActStore(database),
  });
}
