import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { cp, lstat, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ScenepressError } from '../base/errors.ts';
import { allPages } from '../base/pages.ts';
import { LOCK_FILES } from '../files/data-files.ts';
import { realDisk, syncFile } from '../files/disk.ts';
import type { MasterKey } from '../keys/master-key.ts';
import { SecretsCheck } from '../keys/sealed-secrets.ts';
import { pagesOfJobs } from '../storage/pages-of-jobs.ts';
import { storedAssets } from '../storage/stored-assets.ts';
import type { BackupReport } from './backup-report.ts';
import { DataFolder } from './data-folder.ts';
import { unfinishedDeliveries } from './unfinished-deliveries.ts';

/** The name of the manifest's file. */
export const MANIFEST = 'backup.json';
const PIECE_BYTES = 1024 * 1024;
/** Jobs per query; larger pages would block the service for longer. */
const PAGE = 100;

/** The manifest of a backup. Written last: without it, a backup is incomplete. */
export interface Manifest {
  format: 1;
  /** ISO 8601, UTC. */
  createdAt: string;
  jobs: number;
  /** By path in the backup: SHA-256 and size. */
  files: Record<string, { sha256: string; sizeBytes: number }>;
  /** Symbolic links of the studio's material: their targets, by path in the backup. */
  links: Record<string, string>;
}

type Contents = Pick<BackupReport, 'jobs' | 'dueDeliveries'> & { secrets: SecretsCheck };

interface ContentsOptions {
  source?: DataFolder;
  dropDeliveries?: boolean;
  masterKey?: MasterKey | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Opens a copied database, and reads its jobs, keys and unfinished deliveries; with `source`, copies the artifacts, and
 * checks the structure of the file. Without, the manifest has been compared.
 */
export async function checkAndCopyAssets(path: string, options: ContentsOptions): Promise<Contents> {
  const copy = new DataFolder(path);
  await copy.start();
  try {
    const [contents, fault] = await Promise.all([
      readAndCopyAssets(copy, options),
      options.source && copy.structuralFault(),
    ]);
    if (fault !== undefined) throw damaged(copy, options.source, fault);
    return contents;
  } finally {
    await copy.stop();
    for (const name of LOCK_FILES) await rm(join(path, name), { force: true });
  }
}

async function readAndCopyAssets(
  copy: DataFolder,
  { source, dropDeliveries = false, masterKey, signal }: ContentsOptions,
): Promise<Contents> {
  let jobs = 0;
  const secrets = new SecretsCheck(masterKey);
  const unfinished = await unfinishedDeliveries(copy.storage, { drop: dropDeliveries });
  const dueDeliveries = dropDeliveries ? 0 : unfinished;
  for await (const { assetKey, sizeBytes } of storedAssets(copy.storage)) {
    signal?.throwIfAborted();
    if (source && (await statusOf(source.assets.path(assetKey)))) {
      await copy.assets.put(assetKey, { path: source.assets.path(assetKey) }).catch(unlessGone);
    }
    const found = await statusOf(copy.assets.path(assetKey));
    // A missing asset was removed by retention, or by its owner, meanwhile, which is no damage.
    if (found && found.size !== sizeBytes) throw damaged(copy, source, `${assetKey} has ${found.size} bytes`);
  }
  for await (const page of pagesOfJobs(copy.storage, { limit: PAGE })) {
    signal?.throwIfAborted();
    for (const job of page) secrets.addJob(job);
    jobs += page.length;
  }
  const unsourced = await copy.jobWithoutSource();
  if (unsourced !== undefined) throw damaged(copy, source, `${unsourced} has no source`);
  const keys = allPages(
    (page) => copy.keyStore.listKeys(page),
    ({ keyId }) => keyId,
  );
  for await (const key of keys) secrets.addKey(key);
  const accounts = allPages(
    (page) => copy.accountStore.listAccounts(page),
    ({ accountId }) => accountId,
  );
  for await (const account of accounts) secrets.addAccount(account);
  return { jobs, dueDeliveries, secrets };
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

export async function refuseExisting(path: string, what: string): Promise<void> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length === 0) return;
  throw new ScenepressError(
    'conflict',
    `${what} ${path} exists and isn't empty. Nothing was overwritten; use another folder.`,
  );
}

/** Streams the file: studio folders may hold files of many gigabytes. */
export async function fingerprintOf(
  path: string,
  signal?: AbortSignal,
): Promise<{ sha256: string; sizeBytes: number }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    signal?.throwIfAborted();
    hash.update(piece as Buffer);
    sizeBytes += (piece as Buffer).length;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

/** Copies a tree of files, folders and links; no effect when `from` does not exist. */
export async function copyTree(from: string, to: string, signal?: AbortSignal): Promise<void> {
  if (!(await statusOf(from))) return;
  const filter = async (path: string) => {
    signal?.throwIfAborted();
    const status = await lstat(path);
    return status.isFile() || status.isDirectory() || status.isSymbolicLink();
  };
  await cp(from, to, { recursive: true, verbatimSymlinks: true, filter });
}

/** Flushes all files and folders of a tree. */
export async function syncTree(folder: string, signal?: AbortSignal): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    signal?.throwIfAborted();
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path, signal);
    else if (entry.isFile()) await syncFile(path);
  }
  await realDisk.syncFolder(folder);
}

/** Undefined when there is no such file; other errors are thrown. */
async function statusOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

export function reportOf(
  folder: string,
  { files }: Manifest,
  { jobs, dueDeliveries, secrets }: Contents,
): BackupReport {
  const sizes = Object.values(files).map(({ sizeBytes }) => sizeBytes);
  const sizeBytes = sizes.reduce((sum, size) => sum + size, 0);
  const sealedSecrets = secrets.found;
  return { folder, jobs, dueDeliveries, files: sizes.length, sizeBytes, sealedSecrets };
}

function damaged(copy: DataFolder, source: DataFolder | undefined, what: string): ScenepressError {
  return new ScenepressError(
    'storage_damaged',
    source
      ? `The data folder ${source.path} is damaged: ${what}. No backup was made. Restore an earlier one, or run ` +
          '`scenepress recover`.'
      : `The copy in ${copy.path} is damaged: ${what}. It was kept for inspection.`,
  );
}
