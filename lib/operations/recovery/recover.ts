import { copyFile, link, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { ScenepressError } from '../../base/errors.ts';
import { known } from '../../base/known-options.ts';
import { type Random, systemRandom } from '../../base/random.ts';
import { DataFolder } from '../../data-folder/data-folder.ts';
import { type LostRow, reasonOf } from '../../data-folder/documents/lost-row.ts';
import { salvageDocuments, writeSalvaged } from '../../data-folder/documents/salvage.ts';
import type { Connection } from '../../databases/sqlite/connection.ts';
import { makeDatabase } from '../../databases/sqlite/make-database.ts';
import { DAMAGED_PREFIX, DATA_FILES, DOCUMENT_FILES } from '../../files/data-files.ts';
import { realDisk, replaceFile } from '../../files/disk.ts';
import { FolderLock } from '../../files/folder-lock.ts';
import type { AuditReport } from '../../ledger/ledger-store.ts';
import { SQLITE_SCHEMA } from '../../sql/sqlite/schema.ts';
import { systemClock } from '../../time/clock.ts';
import { logFaults, openDamaged } from './open-damaged.ts';
import { queueFaults, rebuildQueue } from './rebuild-queue.ts';
import { type Salvage, salvage } from './salvage.ts';

const MOST_FAULTS = 100;

/** The result of a recovery. */
export interface RecoveryReport {
  /** The folder that was recovered. */
  folder: string;
  /**
   * Problems of the database file, in SQLite's words, of its queue and of the documents. When this and `lost` are
   * empty, nothing is damaged and nothing was done.
   */
  faults: string[];
  /** Known rows that cannot be saved; damaged pages may have held more. */
  lost: LostRow[];
  /**
   * The entries of the ledger in the old database, and those that can be saved. `found` is null when they cannot be counted.
   * If it is null or more than `saved`, credits may be missing although the audit finds no problem in the rest.
   */
  ledgerEntries: { found: number | null; saved: number };
  /** The folder with the original files; null when nothing was done. */
  originalsFolder: string | null;
  /** The audit after the recovery; null when nothing was done. */
  audit: AuditReport | null;
}

/** Options of {@link recover}. */
export interface RecoverOptions {
  /** When false, nothing is changed. */
  apply?: boolean;
  /** The time in the name of the folder with the original files. Default: the system's. */
  now?: Date;
  /** The source of nonces. */
  random?: Random;
  /** Aborts it until it begins to replace files; then nothing is changed. */
  signal?: AbortSignal;
}

/**
 * Saves the intact rows and the valid document entries of a damaged data folder, for want of a backup. The original files
 * are kept in a subfolder. No service may be running on the folder. Needs space for two copies of the database. Errors:
 * `storage_locked`; `not_found` when the folder contains no data; `conflict` when another version made the data;
 * `storage_damaged` when SQLite can't read the tables, because the header or the schema is damaged.
 *
 * ```ts
 * const found = await recover('./renders'); // changes nothing
 * if (found.lost.length === 0) await recover('./renders', { apply: true });
 * ```
 */
export async function recover(path: string, options: RecoverOptions = {}): Promise<RecoveryReport> {
  const {
    apply = false,
    now = new Date(systemClock.now()),
    random = systemRandom,
    signal,
  } = known('recover', options, { apply: true, now: true, random: true, signal: true });
  const folder = resolve(path);
  const names = await realDisk.list(folder).catch((): string[] => []);
  if (![DATA_FILES.database, DATA_FILES.recovering].some((name) => names.includes(name)))
    throw new ScenepressError('not_found', `${folder} contains no Scenepress data.`);
  const lock = new FolderLock(folder, { random });
  await lock.acquire();
  const work = join(folder, DATA_FILES.recoveryWork);
  try {
    await putFormerBack(folder);
    await rm(work, { recursive: true, force: true });
    await mkdir(work, { mode: 0o700 });
    // Works on a copy, because opening a database changes it.
    for (const name of await filesOf(folder)) {
      signal?.throwIfAborted();
      await copyFile(join(folder, name), join(work, name));
    }
    signal?.throwIfAborted();
    const found = await examine(join(work, DATA_FILES.database), join(work, 'new'), { now, random, signal });
    const documents = await salvageDocuments(realDisk, folder);
    const report: RecoveryReport = {
      folder,
      faults: [...found.faults, ...documents.faults],
      lost: [...found.lost, ...documents.lost],
      ledgerEntries: found.ledgerEntries,
      originalsFolder: null,
      audit: null,
    };
    if (!apply || (report.faults.length === 0 && report.lost.length === 0)) return report;
    signal?.throwIfAborted();
    report.originalsFolder = await linkOriginals(folder, now);
    if (found.faults.length > 0 || found.lost.length > 0) {
      await replaceDatabase(folder, join(work, 'new'), report.originalsFolder);
    }
    await writeSalvaged(realDisk, folder, documents);
    await rm(work, { recursive: true, force: true });
    lock.release();
    return { ...report, audit: await auditOf(folder) };
  } finally {
    await rm(work, { recursive: true, force: true });
    lock.release();
  }
}

/** Salvages a copy of a database into a new one. */
async function examine(
  damagedPath: string,
  newPath: string,
  how: Salvage,
): Promise<Pick<RecoveryReport, 'faults' | 'lost' | 'ledgerEntries'>> {
  const lostCommits = await logFaults(`${damagedPath}-wal`);
  const { source, faults } = await openDamaged(damagedPath, SQLITE_SCHEMA);
  const target = await makeDatabase(newPath, SQLITE_SCHEMA);
  try {
    const lost = await salvage(source, target, how);
    rebuildQueue(target);
    return {
      faults: [...lostCommits, ...faults, ...faultsOf(source), ...queueFaults(source)],
      lost,
      ledgerEntries: {
        found: lostCommits.length > 0 ? null : entriesIn(source),
        saved: entriesIn(target) ?? 0,
      },
    };
  } finally {
    source.close();
    target.close();
  }
}

/** Reads the whole table, not an index of it. Null when that is damaged. */
function entriesIn(connection: Connection): number | null {
  try {
    const text = 'SELECT count(*) AS count FROM ledger_entries NOT INDEXED';
    return connection.get<{ count: number }>(text, [])?.count ?? null;
  } catch {
    return null;
  }
}

function faultsOf(source: Connection): string[] {
  return [`integrity_check(${MOST_FAULTS})`, 'foreign_key_check'].flatMap((check) => {
    try {
      const rows = source.all<{ integrity_check?: string; table?: string }>(`PRAGMA ${check}`, []);
      const faults = rows.map(
        (row) => row.integrity_check ?? `a row that a row of ${row.table} refers to is missing`,
      );
      return faults.filter((fault) => fault !== 'ok');
    } catch (error) {
      return [reasonOf(error)];
    }
  });
}

/** Hard-links all files that may be replaced into a subfolder; returns its path. */
async function linkOriginals(folder: string, now: Date): Promise<string> {
  const originals = join(folder, `${DAMAGED_PREFIX}${now.toISOString().replaceAll(':', '-')}`);
  await mkdir(originals, { mode: 0o700 });
  const names = [...(await filesOf(folder)), ...DOCUMENT_FILES];
  for (const name of names) await link(join(folder, name), join(originals, name)).catch(unlessGone);
  await realDisk.syncFolder(originals);
  await realDisk.syncFolder(folder);
  return originals;
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Until the new database is in place, `recovering` names the folder with the former one. */
async function replaceDatabase(folder: string, newPath: string, originals: string): Promise<void> {
  await replaceFile(realDisk, folder, DATA_FILES.recovering, [Buffer.from(`${basename(originals)}\n`)]);
  // The old log must not be applied to the new database.
  for (const file of await filesOf(folder)) if (file !== DATA_FILES.database) await rm(join(folder, file));
  await rename(newPath, join(folder, DATA_FILES.database));
  await realDisk.syncFolder(folder);
  await rm(join(folder, DATA_FILES.recovering));
  await realDisk.syncFolder(folder);
}

/** Rolls back a recovery that was interrupted between two renames. */
async function putFormerBack(folder: string): Promise<void> {
  const name = (await realDisk.read(join(folder, DATA_FILES.recovering)))?.toString().trim();
  if (name === undefined) return;
  const originals = join(folder, name);
  for (const file of await filesOf(folder)) await rm(join(folder, file));
  for (const file of await filesOf(originals)) await link(join(originals, file), join(folder, file));
  await realDisk.syncFolder(folder);
  await rm(join(folder, DATA_FILES.recovering));
}

/** The files that make up the database. */
async function filesOf(folder: string): Promise<string[]> {
  const names = await realDisk.list(folder);
  return names.filter((name) => name === DATA_FILES.database || name === DATA_FILES.databaseLog);
}

async function auditOf(path: string): Promise<AuditReport> {
  const folder = new DataFolder(path);
  await folder.start();
  try {
    return await folder.ledgerStore.audit();
  } finally {
    await folder.stop();
  }
}
