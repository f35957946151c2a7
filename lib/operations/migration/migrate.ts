import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Account } from '../../accounts/account-store.ts';
import type { AssetStore } from '../../assets/asset-store.ts';
import { ScenepressError } from '../../base/errors.ts';
import { known, type Names } from '../../base/known-options.ts';
import { inspectClaim, isClaimable, refuseCopy } from '../../cluster/claimed-assets.ts';
import { DataFolder } from '../../data-folder/data-folder.ts';
import type { DocumentContents } from '../../data-folder/documents/documents.ts';
import type { KeyRecord } from '../../keys/key-store.ts';
import { MasterKey } from '../../keys/master-key.ts';
import type { AuditReport } from '../../ledger/ledger-store.ts';
import type { PostgresStorage } from '../../postgres/postgres-storage.ts';
import { ACCOUNT_RECORDS, KEYS, SETTINGS } from '../../sql/account-row-formats.ts';
import type { RowFormat } from '../../sql/row-format.ts';
import type { InstallationRecords } from '../../storage/installation-records.ts';
import type { SqlReader } from '../../storage/sql.ts';
import { type Contents, contentsOf, differences, rowsOf } from './contents.ts';
import { assertUnused } from './copied-installation.ts';
import { copyArtifacts } from './copy-artifacts.ts';
import { COPIED_TABLES, copyRows, POSTGRES_SIDE, SQLITE_SIDE } from './copy-rows.ts';

/** Added to the name of a folder that is not complete. */
const PART = '.part';
const MARK_MOVED = 'INSERT INTO moved VALUES (1, ?) ON CONFLICT (moved_id) DO NOTHING';

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
  /** The audit of the ledger at the target. */
  audit: AuditReport;
}

/** Options of a move. */
export interface MigrationOptions {
  /** In hexadecimal. */
  masterKey: string;
  /** Names the new place in the mark at the old one. */
  target: string;
  /** Where artifacts are copied to, or from; default: they stay where they are. */
  assets?: AssetStore;
  /** Moves the rest when artifacts are missing or incomplete; default: false, which makes it an error. */
  allowMissing?: boolean;
  /** Aborts it until the old place is marked; what was copied stays, and a repetition completes or replaces it. */
  signal?: AbortSignal;
}

const NAMES: Names<MigrationOptions> = {
  masterKey: true,
  target: true,
  assets: true,
  allowMissing: true,
  signal: true,
};

/**
 * Moves an installation from a data folder, which must be started, to an empty Postgres storage, which must be started,
 * too. All rows are added in one transaction, after the artifacts: when it is interrupted, nothing has changed, and it can
 * be repeated; when it was complete, a repetition only compares. Then the folder is marked as moved, and no service
 * starts with it. `assets`: where artifacts are copied to. Errors: `conflict` when the storage has other data, or
 * artifacts are missing, `storage_damaged`, also for books that are not in order, `master_key`.
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
  options: MigrationOptions,
): Promise<MigrationReport> {
  const { assets, masterKey, target, signal, allowMissing } = known('migrateToPostgres', options, NAMES);
  const key = MasterKey.fromHex(masterKey);
  if (
    (await folder.masterKeys({ given: masterKey })).former !== undefined ||
    (await folder.masterKeyFiles.isRotating())
  )
    throw new ScenepressError(
      'conflict',
      'A replacement of the master key was interrupted. Complete it first: start the service with the folder once.',
    );
  await audited(folder, signal);
  const expected = await contentsOfFolder(folder, signal);
  const isNew = await isEmpty(storage.database);
  if (!isNew && differences(expected, await contentsOfStorage(storage, signal)).length > 0) throw notEmpty();
  await moveRecord({ from: folder.installation, to: storage.installation }, assets);
  const from = { storage: folder.storage, source: folder.assets };
  const artifacts = assets ? await copyArtifacts(from, assets, { signal, allowMissing }) : null;
  await storage.masterKey.load({ given: key.toHex() });
  if (isNew) {
    await addRows(folder, storage, expected.documents, signal);
    assertCopied(expected, await contentsOfStorage(storage, signal));
  }
  const audit = await audited(storage, signal);
  await folder.markMoved(target);
  return reportOf(expected, { artifacts, audit });
}

/**
 * Moves an installation from a Postgres storage, which must be started and not in use, to a new data folder. It is made
 * beside its place as `<path>.part`; when it is complete, the storage is marked as moved, in a transaction that waits for
 * all others and finds it unchanged, and the folder is renamed. A repetition makes the folder again, or compares the one
 * that is there. `assets`: where the artifacts are that are copied into the folder.
 * Errors: as those of {@link migrateToPostgres}; `conflict` also while processes use the storage.
 *
 * ```ts
 * await migrateToFolder(storage, './renders', { assets, masterKey, target: './renders' });
 * ```
 */
export async function migrateToFolder(
  storage: PostgresStorage,
  path: string,
  options: MigrationOptions,
): Promise<MigrationReport> {
  const { assets, masterKey, target, signal, allowMissing } = known('migrateToFolder', options, NAMES);
  const isNew = !existsSync(path);
  const movedTo = await storage.movedTo();
  if (movedTo !== undefined && movedTo !== target)
    throw new ScenepressError('conflict', `The data was moved to ${movedTo} before. Nothing was changed.`);
  if (!isNew && movedTo === undefined) throw exists(path);
  if ((await storage.masterKey.load({ given: masterKey })).former !== undefined)
    throw new ScenepressError(
      'conflict',
      'A replacement of the master key was interrupted. Complete it first with `scenepress master-key rotate`.',
    );
  await assertUnused(storage);
  await audited(storage, signal);
  if (isNew) await rm(path + PART, { recursive: true, force: true });
  const folder = new DataFolder(isNew ? path + PART : path);
  await folder.start();
  try {
    if (isNew) {
      await takeRows(storage, folder, signal);
      await folder.masterKeys({ given: masterKey });
    }
    const contents = await contentsOfFolder(folder, signal);
    await moveRecord({ from: storage.installation, to: folder.installation }, assets);
    const from = assets && { storage: folder.storage, source: assets };
    const artifacts = from ? await copyArtifacts(from, folder.assets, { signal, allowMissing }) : null;
    const audit = await audited(folder, signal);
    await storage.database.transaction(async (tx) => {
      // From here on, nothing writes: a process that starts meanwhile waits, and then finds the mark.
      await tx.lockAll();
      await assertUnused(storage);
      const found = await contentsOf(tx, await documentsOf(storage), signal);
      if (differences(contents, found).length > 0) throw isNew ? hasChanged() : exists(path);
      await tx.run(MARK_MOVED, target);
    });
    await folder.stop();
    if (isNew) await rename(path + PART, path);
    return reportOf(contents, { artifacts, audit });
  } finally {
    await folder.stop();
  }
}

/** The installation keeps its id. Error: `conflict` when the data is a copy, or the assets are those of others. */
async function moveRecord(
  { from, to }: { from: InstallationRecords; to: InstallationRecords },
  assets: AssetStore | undefined,
): Promise<void> {
  const [before, place] = [await from.read(), await to.here()];
  await refuseCopy(from);
  // A repetition may find that a service has claimed the new place.
  const records = (await to.read()) ? to : from;
  if (assets && isClaimable(assets)) await inspectClaim(assets, records);
  if (before) await to.change(() => ({ ...before, place, stamp: before.stamp + 1 }));
}

async function addRows(
  folder: DataFolder,
  storage: PostgresStorage,
  documents: DocumentContents,
  signal: AbortSignal | undefined,
): Promise<void> {
  const source = { ...readerOf(folder.database), side: SQLITE_SIDE };
  const { accounts, keys, settings } = documents;
  await storage.database.transaction(async (tx) => {
    if (!(await isEmpty(tx))) throw notEmpty();
    await copyRows(source, { tx, side: POSTGRES_SIDE }, signal);
    await tx.run(
      "SELECT setval(pg_get_serial_sequence('text_keys', 'text_key_id'), coalesce((SELECT max(text_key_id) FROM text_keys), 1))",
    );
    for (const account of accounts) await tx.run(ACCOUNT_RECORDS.insert, ...ACCOUNT_RECORDS.row(account));
    for (const record of keys) await tx.run(KEYS.insert, ...KEYS.row(record));
    await tx.run(SETTINGS.insert, ...SETTINGS.row({ settingsId: 1, ...settings }));
  });
}

async function takeRows(
  storage: PostgresStorage,
  folder: DataFolder,
  signal: AbortSignal | undefined,
): Promise<void> {
  const source = { ...readerOf(storage.database), side: POSTGRES_SIDE };
  await folder.database.transaction((tx) => copyRows(source, { tx, side: SQLITE_SIDE }, signal));
  await folder.fillDocuments(await documentsOf(storage));
}

async function contentsOfFolder(folder: DataFolder, signal: AbortSignal | undefined): Promise<Contents> {
  return contentsOf(folder.database, await folder.documentContents(), signal);
}

async function contentsOfStorage(
  storage: PostgresStorage,
  signal: AbortSignal | undefined,
): Promise<Contents> {
  return contentsOf(storage.database, await documentsOf(storage), signal);
}

async function documentsOf(storage: PostgresStorage): Promise<DocumentContents> {
  return {
    accounts: await allOf(storage.database, ACCOUNT_RECORDS),
    keys: await allOf(storage.database, KEYS),
    settings: await storage.settings.getSettings(),
  };
}

function reportOf(
  contents: Contents,
  { artifacts, audit }: Pick<MigrationReport, 'artifacts' | 'audit'>,
): MigrationReport {
  const { accounts, keys } = contents.documents;
  return { rows: rowsOf(contents), accounts: accounts.length, keys: keys.length, artifacts, audit };
}

/** Error: `storage_damaged` when the books are not in order. */
async function audited(
  { ledgerStore }: Pick<PostgresStorage, 'ledgerStore'>,
  signal: AbortSignal | undefined,
): Promise<AuditReport> {
  const report = await ledgerStore.audit({ signal });
  if (report.problems.length === 0) return report;
  throw new ScenepressError(
    'storage_damaged',
    `The books are not in order, so the installation was not moved:\n  ${report.problems.join('\n  ')}`,
  );
}

async function isEmpty(reader: SqlReader): Promise<boolean> {
  for (const name of [...COPIED_TABLES.map(({ name }) => name), ACCOUNT_RECORDS.table])
    if (await reader.get(`SELECT 1 AS found FROM ${name} LIMIT 1`)) return false;
  return true;
}

function notEmpty(): ScenepressError {
  return new ScenepressError(
    'conflict',
    'The database contains other data. Nothing was changed. Use an empty one, or another schema.',
  );
}

function exists(path: string): ScenepressError {
  return new ScenepressError('conflict', `${path} exists. Choose a folder that does not exist yet.`);
}

function hasChanged(): ScenepressError {
  return new ScenepressError(
    'conflict',
    'The database was changed while it was copied. Stop all servers, workers and commands, then repeat this.',
  );
}

function assertCopied(expected: Contents, found: Contents): void {
  const wrong = differences(expected, found);
  if (wrong.length === 0) return;
  throw new ScenepressError(
    'storage_damaged',
    `Not all of ${wrong.join(', ')} was copied. Report this error.`,
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
