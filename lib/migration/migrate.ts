import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Account } from '../accounts/account-store.ts';
import type { AssetStore } from '../assets/asset-store.ts';
import { DataFolder } from '../data-folder/data-folder.ts';
import { ScenepressError } from '../errors.ts';
import type { KeyRecord } from '../keys/key-store.ts';
import { MasterKey } from '../keys/master-key.ts';
import type { AuditReport } from '../ledger/ledger-store.ts';
import { StoredLedger } from '../ledger/stored-ledger.ts';
import type { PostgresStorage } from '../postgres/postgres-storage.ts';
import { ACCOUNT_RECORDS, KEYS, SETTINGS } from '../sql/account-tables.ts';
import type { RowFormat } from '../sql/row-format.ts';
import type { SqlReader } from '../storage/sql.ts';
import { copyArtifacts } from './copy-artifacts.ts';
import { copyRows, countRows, POSTGRES_SIDE, SQLITE_SIDE } from './copy-rows.ts';

/** Added to the name of a folder that is not complete. */
const PART = '.part';

/** What was moved. */
export interface MigrationReport {
  /** Rows of each table. */
  rows: Record<string, number>;
  /** Number of accounts. */
  accounts: number;
  /** Number of API keys. */
  keys: number;
  /** Artifacts that were copied, and that were missing at the source; null when they stayed where they are. */
  artifacts: { copied: number; missing: number } | null;
  /** Of the books at the target. */
  audit: AuditReport;
}

/**
 * Moves an installation from a data folder, which must be started, to an empty Postgres storage, which must be started,
 * too. All rows are added in one transaction, after the artifacts: when it is interrupted, nothing has changed, and it can
 * be repeated; when it was complete, a repetition only checks that. Then the folder is marked as moved, and no service
 * starts with it. `assets`: where artifacts are copied to; default: they stay. `masterKey`: in hexadecimal. Errors:
 * `conflict` when the storage has other data, `storage_damaged`, `master_key`.
 *
 * ```ts
 * const dataFolder = new DataFolder('./renders');
 * const storage = postgres(url);
 * await Promise.all([dataFolder.start(), storage.start()]);
 * await migrateToPostgres(dataFolder, storage, { masterKey, target: 'postgres://db.example.org/studio' });
 * ```
 */
export async function migrateToPostgres(
  folder: DataFolder,
  storage: PostgresStorage,
  { assets, masterKey, target }: { assets?: AssetStore; masterKey: string; target: string },
): Promise<MigrationReport> {
  const key = MasterKey.fromHex(masterKey);
  if (
    (await folder.masterKeys({ given: masterKey })).former !== undefined ||
    (await folder.masterKeyFiles.isRotating())
  )
    throw new ScenepressError(
      'conflict',
      'A replacement of the master key was interrupted. Complete it first: start the service with the folder once.',
    );
  const artifacts = assets ? await copyArtifacts(folder.storage, folder.assets, assets) : null;
  const { accounts, keys, settings } = await folder.documentContents();
  const source = { ...readerOf(folder.database), side: SQLITE_SIDE };
  const expected = await countRows(source);
  if (await isComplete(storage.database, expected, accounts.length)) {
    await storage.masterKey.load({ given: key.toHex() });
    await folder.markMoved(target);
    return {
      ...(await reportOf(storage, expected)),
      accounts: accounts.length,
      keys: keys.length,
      artifacts,
    };
  }
  await storage.masterKey.load({ given: key.toHex() });
  const rows = await storage.database.transaction(async (tx) => {
    await assertEmpty(tx);
    const copied = await copyRows(source, { tx, side: POSTGRES_SIDE });
    await tx.run(
      "SELECT setval(pg_get_serial_sequence('text_keys', 'text_key_id'), coalesce((SELECT max(text_key_id) FROM text_keys), 1))",
    );
    for (const account of accounts) await tx.run(ACCOUNT_RECORDS.insert, ...ACCOUNT_RECORDS.row(account));
    for (const record of keys) await tx.run(KEYS.insert, ...KEYS.row(record));
    await tx.run(SETTINGS.insert, ...SETTINGS.row({ settingsId: 1, ...settings }));
    return copied;
  });
  assertSame(rows, await countRows(storage.database));
  const report = await reportOf(storage, rows);
  await folder.markMoved(target);
  return { ...report, accounts: accounts.length, keys: keys.length, artifacts };
}

/**
 * Moves an installation from a Postgres storage, which must be started and not in use, to a new data folder. It is made
 * beside its place as `<path>.part` and renamed when it is complete; then the storage is marked as moved.
 * `assets`: where artifacts are; they are copied into the folder. Errors: as those of {@link migrateToPostgres}.
 *
 * ```ts
 * await migrateToFolder(storage, './renders', { assets, masterKey, target: './renders' });
 * ```
 */
export async function migrateToFolder(
  storage: PostgresStorage,
  path: string,
  { assets, masterKey, target }: { assets: AssetStore; masterKey: string; target: string },
): Promise<MigrationReport> {
  if (existsSync(path))
    throw new ScenepressError('conflict', `${path} exists. Choose a folder that does not exist yet.`);
  if ((await storage.masterKey.load({ given: masterKey })).former !== undefined)
    throw new ScenepressError(
      'conflict',
      'A replacement of the master key was interrupted. Complete it first with `scenepress master-key rotate`.',
    );
  await rm(path + PART, { recursive: true, force: true });
  const folder = new DataFolder(path + PART);
  await folder.start();
  try {
    const artifacts = await copyArtifacts(storage, assets, folder.assets);
    const accounts = await allOf(storage.database, ACCOUNT_RECORDS);
    const keys = await allOf(storage.database, KEYS);
    const source = { ...readerOf(storage.database), side: POSTGRES_SIDE };
    const rows = await folder.database.transaction((tx) => copyRows(source, { tx, side: SQLITE_SIDE }));
    assertSame(rows, await countRows(folder.database));
    const settings = await storage.settings.getSettings();
    await folder.fillDocuments({ accounts, keys, settings });
    await folder.masterKeys({ given: masterKey });
    const report = await reportOf({ ledgerStore: folder.ledgerStore }, rows);
    await folder.stop();
    await rename(path + PART, path);
    await storage.markMoved(target);
    return { ...report, accounts: accounts.length, keys: keys.length, artifacts };
  } finally {
    await folder.stop();
  }
}

async function reportOf(
  { ledgerStore }: Pick<PostgresStorage, 'ledgerStore'>,
  rows: Record<string, number>,
): Promise<Pick<MigrationReport, 'rows' | 'audit'>> {
  const ledger = new StoredLedger({ store: ledgerStore });
  return { rows, audit: await ledger.audit() };
}

/** Whether the rows of an earlier run are there; false when there are none. */
async function isComplete(
  reader: SqlReader,
  expected: Record<string, number>,
  accounts: number,
): Promise<boolean> {
  const found = await countRows(reader);
  const count = await reader.get<{ count: number }>('SELECT count(*) AS count FROM accounts');
  if (Object.values(found).every((rows) => rows === 0) && count?.count === 0) return false;
  const isSame =
    count?.count === accounts && Object.keys(expected).every((name) => found[name] === expected[name]);
  if (isSame) return true;
  throw notEmpty();
}

async function assertEmpty(reader: SqlReader): Promise<void> {
  const found = await countRows(reader);
  const account = await reader.get('SELECT account_id FROM accounts LIMIT 1');
  if (account || Object.values(found).some((rows) => rows > 0)) throw notEmpty();
}

function notEmpty(): ScenepressError {
  return new ScenepressError(
    'conflict',
    'The database contains other data. Nothing was changed. Use an empty one, or another schema.',
  );
}

function assertSame(copied: Record<string, number>, found: Record<string, number>): void {
  const wrong = Object.keys(copied).filter((name) => copied[name] !== found[name]);
  if (wrong.length === 0) return;
  throw new ScenepressError(
    'storage_damaged',
    `Rows of ${wrong.join(', ')} were not all copied. Report this error.`,
  );
}

/** All records of a table that fits in memory. */
async function allOf<Rec extends Account | KeyRecord>(
  reader: SqlReader,
  format: RowFormat<Rec>,
): Promise<Rec[]> {
  const rows = await reader.all(
    `SELECT ${format.names} FROM ${format.table} ORDER BY created_at_ms, ${format.key}`,
  );
  return rows.map((row) => format.record(row));
}

/** Methods of a class are not copied by a spread. */
function readerOf(database: SqlReader): SqlReader {
  return {
    all: (text, ...values) => database.all(text, ...values),
    get: (text, ...values) => database.get(text, ...values),
  };
}
