import { readdir, rename, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DataFolder } from './data-folder.ts';
import { DOCUMENT_FILES } from './documents/documents.ts';
import { isScenepressError, ScenepressError } from './errors.ts';
import type { LedgerEntry } from './ledger/ledger-store.ts';
import { type Disk, realDisk, replaceFile } from './storage/disk.ts';
import { PACK_FILE } from './storage/lowdb/archive.ts';
import { FolderLock } from './storage/lowdb/folder-lock.ts';
import { readRecords } from './storage/lowdb/journal-record.ts';
import { JOURNAL, KEPT, SNAPSHOT } from './storage/lowdb/journaled-adapter.ts';
import { readSnapshot } from './storage/lowdb/snapshot.ts';
import { applyTo, type Tables } from './storage/lowdb/tables.ts';

/** What going back to what an upgrade kept undoes. */
export interface RollbackReport {
  folder: string;
  /** The format that is gone back to. */
  format: number;
  /** Ids of jobs that were made since. */
  jobs: string[];
  /** Entries in the books since; what they did to balances is undone, too. */
  entries: number;
  /** Where the files are as they were; null when nothing was done. */
  keptAside: string | null;
}

export interface RollbackOptions {
  /** Without it nothing is changed. */
  apply?: boolean;
  /** Names the folder for what is kept aside. */
  now?: Date;
}

const KEPT_SNAPSHOT = new RegExp(`^${KEPT}(\\d+)-database\\.jsonl$`);

/**
 * Goes back to the data as an upgrade found it, for the version of Scenepress that wrote it. All that was written since
 * is lost to it; the files stay in a folder beside. A service must not be running on it. Cut off, it can be repeated.
 * Errors: `storage_locked`; `not_found` when no upgrade kept anything.
 */
export async function rollBack(
  path: string,
  { apply = false, now = new Date() }: RollbackOptions = {},
): Promise<RollbackReport> {
  const folder = resolve(path);
  const disk = realDisk;
  const names = await disk.list(folder).catch(() => []);
  const format = Math.max(...names.map((name) => Number(KEPT_SNAPSHOT.exec(name)?.[1] ?? 0)), 0);
  if (format === 0) {
    throw new ScenepressError(
      'not_found',
      `No upgrade kept anything in ${folder}: there is nothing to go back to.`,
    );
  }
  const prefix = `${KEPT}${format}-`;
  const kept = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  const report: RollbackReport = {
    folder,
    format,
    ...(await since(disk, folder, prefix, kept).catch(nothingKnown)),
    keptAside: null,
  };
  if (!apply) return report;

  const lock = new FolderLock(folder);
  await lock.acquire();
  try {
    const isCurrent = (name: string) =>
      name === SNAPSHOT || JOURNAL.test(name) || PACK_FILE.test(name) || DOCUMENT_FILES.includes(name);
    const current = (await disk.list(folder)).filter(isCurrent);
    const keptAside = `${folder}/rolled-back-${now.toISOString().replaceAll(':', '-')}`;
    await disk.makeFolder(keptAside);
    for (const name of current) await copy(disk, `${folder}/${name}`, keptAside, name);
    await disk.syncFolder(folder);

    // The snapshot after what it needs, and before what it doesn't go with is removed.
    for (const name of [...kept.filter((name) => name !== SNAPSHOT), SNAPSHOT]) {
      await copy(disk, `${folder}/${prefix}${name}`, folder, name);
    }
    for (const name of current) if (!kept.includes(name)) await disk.remove(`${folder}/${name}`);
    await disk.syncFolder(folder);
    if (format === 1) await moveArtifactsBack(folder);
    return { ...report, keptAside };
  } finally {
    lock.release();
  }
}

/** Of data that was left between the two by a rollback that was cut off, nobody can say. */
function nothingKnown(error: unknown): { jobs: string[]; entries: number } {
  if (isScenepressError(error, 'storage_damaged')) return { jobs: [], entries: 0 };
  throw error;
}

async function copy(disk: Disk, path: string, folder: string, name: string): Promise<void> {
  const bytes = await disk.read(path);
  if (bytes) await replaceFile(disk, folder, name, [bytes]);
}

/** Jobs and entries that are there now and weren't then. */
async function since(
  disk: Disk,
  folder: string,
  prefix: string,
  kept: string[],
): Promise<{ jobs: string[]; entries: number }> {
  const then = await readKept(disk, folder, prefix, kept);
  const data = new DataFolder(folder);
  await data.start();
  try {
    const jobs: string[] = [];
    for (let before: string | undefined; ; ) {
      const page = await data.storage.listJobs({ limit: 1000, ...(before !== undefined && { before }) });
      jobs.push(...page.map(({ jobId }) => jobId).filter((jobId) => !then.get('jobs')?.get(jobId)));
      before = page.at(-1)?.jobId;
      if (before === undefined) break;
    }
    const known = new Set(
      [...(then.get('ledgerEntries')?.values() ?? [])].map((entry) => (entry as LedgerEntry).entryId),
    );
    let entries = 0;
    for (const owner of await data.ledgerStore.listOwners()) {
      const all = await data.ledgerStore.listEntries(owner, Number.MAX_SAFE_INTEGER);
      entries += all.filter(({ entryId }) => !known.has(entryId)).length;
    }
    return { jobs, entries };
  } finally {
    await data.stop();
  }
}

async function readKept(disk: Disk, folder: string, prefix: string, kept: string[]): Promise<Tables> {
  const bytes = (await disk.read(`${folder}/${prefix}${SNAPSHOT}`)) ?? Buffer.alloc(0);
  const format = Number(KEPT_SNAPSHOT.exec(`${prefix}${SNAPSHOT}`)?.[1]);
  const snapshot = readSnapshot(bytes, [format]);
  if (!snapshot)
    throw new ScenepressError(
      'storage_damaged',
      `${folder}/${prefix}${SNAPSHOT} is damaged. Nothing was changed.`,
    );
  let { mark } = snapshot;
  for (const name of kept.filter((name) => JOURNAL.test(name)).sort()) {
    const journal = (await disk.read(`${folder}/${prefix}${name}`)) ?? Buffer.alloc(0);
    for (const { operations, sequence, checksum } of readRecords(journal, 0, mark).records) {
      for (const operation of operations) applyTo(snapshot.tables, operation, new Map());
      mark = { sequence, checksum };
    }
  }
  return snapshot.tables;
}

/** Format 1 had them in a folder that is the studio's own today. */
async function moveArtifactsBack(folder: string): Promise<void> {
  const [artifacts, former] = [join(folder, 'artifacts'), join(folder, 'assets')];
  await rmdir(former).catch(() => {}); // Unless the studio has put something into it.
  const taken = await readdir(former).then(
    () => true,
    () => false,
  );
  if (!taken) await rename(artifacts, former).catch(() => {});
}
