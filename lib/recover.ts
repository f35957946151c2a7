import { resolve } from 'node:path';
import { DataFolder } from './data-folder.ts';
import { DOCUMENT_FILES } from './documents/documents.ts';
import { type DocumentSalvage, salvageDocuments, writeSalvaged } from './documents/salvage.ts';
import { ScenepressError } from './errors.ts';
import { type AuditReport, audit } from './ledger/audit.ts';
import { type Disk, realDisk, replaceFile } from './storage/disk.ts';
import { LowdbDatabase } from './storage/lowdb/database.ts';
import { FolderLock } from './storage/lowdb/folder-lock.ts';
import { JOURNAL, journalName, SNAPSHOT } from './storage/lowdb/journaled-adapter.ts';
import { LowdbLedgerStore } from './storage/lowdb/lowdb-ledger-store.ts';
import { LowdbStorage } from './storage/lowdb/lowdb-storage.ts';
import { type Loss, type RowName, type Salvage, salvage } from './storage/lowdb/salvage.ts';
import { snapshotPieces } from './storage/lowdb/snapshot.ts';
import type { ArchiveRules } from './storage/lowdb/tables.ts';

/** What is wrong with a damaged data folder, and what became of it. */
export interface RecoveryReport {
  folder: string;
  /** Empty: nothing is damaged, and nothing was done. */
  losses: Loss[];
  /** Rows in damaged places of which no other state is left: jobs, accounts, keys, entries. */
  lost: RowName[];
  /** Rows in damaged places of which another state is there, which may be an older one. */
  doubtful: RowName[];
  /** Where the files are as they were; null when nothing was done. */
  keptAside: string | null;
  /** Of the books as they are now; null when nothing was done. */
  audit: AuditReport | null;
}

export interface RecoverOptions {
  /** Without it nothing is changed. */
  apply?: boolean;
  /** Names the folder for what is kept aside. */
  now?: Date;
}

/**
 * Makes a damaged data folder usable again, of what can be proven to be as it was written; of documents, which people may
 * change, of all entries that keep the rules. The files as they were stay in a folder beside. A service must not be running on it. Errors: `storage_locked`; `not_found` when it holds no data.
 */
export async function recover(
  path: string,
  { apply = false, now = new Date() }: RecoverOptions = {},
): Promise<RecoveryReport> {
  const folder = resolve(path);
  const lock = new FolderLock(folder);
  await lock.acquire().catch((error: unknown) => {
    if (error instanceof ScenepressError) throw error;
    throw new ScenepressError('not_found', `There is no data of Scenepress in ${folder}.`, { cause: error });
  });
  try {
    const found = await salvage(realDisk, folder, rulesOf(folder));
    try {
      const documents = await salvageDocuments(realDisk, folder);
      const report = describe(folder, found, documents);
      if (!apply || report.losses.length === 0) return report;
      report.keptAside = await keepAside(realDisk, folder, found, now);
      if (found.losses.length > 0) await write(realDisk, folder, found);
      await writeSalvaged(realDisk, folder, documents);
      lock.release();
      return { ...report, audit: await auditOf(folder) };
    } finally {
      await found.close();
    }
  } finally {
    lock.release();
  }
}

function describe(folder: string, found: Salvage, documents: DocumentSalvage): RecoveryReport {
  const losses = [...found.losses, ...documents.losses];
  const report: RecoveryReport = {
    folder,
    losses,
    lost: [],
    doubtful: [],
    keptAside: null,
    audit: null,
  };
  for (const row of losses.flatMap(({ rows }) => rows)) {
    const list = found.has(row) ? report.doubtful : report.lost;
    if (!list.some(({ table, id }) => table === row.table && id === row.id)) list.push(row);
  }
  return report;
}

/** Copies all that is changed or that is no longer needed, before anything is. */
async function keepAside(disk: Disk, folder: string, found: Salvage, now: Date): Promise<string> {
  const aside = `${folder}/damaged-${now.toISOString().replaceAll(':', '-')}`;
  await disk.makeFolder(aside);
  const names = await disk.list(folder);
  for (const name of names) {
    const isWritten = name === SNAPSHOT || JOURNAL.test(name) || DOCUMENT_FILES.includes(name);
    if (!isWritten && !found.damagedFiles.includes(name)) continue;
    const bytes = await disk.read(`${folder}/${name}`);
    if (bytes) await replaceFile(disk, aside, name, [bytes]);
  }
  await disk.syncFolder(folder);
  return aside;
}

/** The snapshot comes last: until it has its name, the folder is what it was. */
async function write(disk: Disk, folder: string, { tables, packs, mark }: Salvage): Promise<void> {
  await (await disk.open(`${folder}/${journalName(mark.sequence + 1)}`, 'create')).close();
  await disk.syncFolder(folder);
  await replaceFile(disk, folder, SNAPSHOT, snapshotPieces(tables, packs, mark));
}

async function auditOf(path: string): Promise<AuditReport> {
  const folder = new DataFolder(path);
  await folder.start();
  try {
    return await audit(folder.ledgerStore);
  } finally {
    await folder.stop();
  }
}

/** What the stores say of their tables. */
function rulesOf(folder: string): ArchiveRules {
  const database = new LowdbDatabase(folder);
  new LowdbLedgerStore(database, new LowdbStorage(database));
  return database.rules;
}
