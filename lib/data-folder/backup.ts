import { createHash } from 'node:crypto';
import { createReadStream, existsSync, type Stats } from 'node:fs';
import { cp, lstat, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isoTime } from '../clock.ts';
import { DATA_FILES, LOCK_FILES, STUDIO_PARTS } from '../data-files.ts';
import { realDisk, replaceFile, syncFile } from '../disk.ts';
import { isScenepressError, ScenepressError } from '../errors.ts';
import { pagesOfJobs } from '../jobs/pages-of-jobs.ts';
import { MasterKey } from '../keys/master-key.ts';
import { SecretsCheck, wrongKey } from '../keys/sealed-secrets.ts';
import { allPages, pagesOf } from '../pages.ts';
import type { BackupReport, RestoredMasterKey, RestoreOptions } from './backup-report.ts';
import { DataFolder } from './data-folder.ts';

const MANIFEST = 'backup.json';
const PIECE_BYTES = 1024 * 1024;
/** Jobs per query; larger pages would block the service for longer. */
const PAGE = 100;

/** The manifest of a backup. Written last: without it, a backup is incomplete. */
interface Manifest {
  format: 1;
  /** ISO 8601, UTC. */
  createdAt: string;
  jobs: number;
  /** By path in the backup: SHA-256 and size. */
  files: Record<string, { sha256: string; sizeBytes: number }>;
}

type Contents = Pick<BackupReport, 'jobs' | 'dueDeliveries'> & { secrets: SecretsCheck };

/**
 * Copies a data folder to a new folder while the service runs: a consistent snapshot of jobs and ledger, with the
 * jobs' sources and artifacts, accounts, keys and the studio folders. The copy is verified before it is renamed into
 * place; an unreadable file fails it (`storage_failed`). The master key is only included on request. Backups and
 * replacements of the master key exclude each other; an interrupted replacement must be completed first (`conflict`).
 * `signal` aborts it between two files, and then nothing is left of it.
 *
 * ```ts
 * const { folder, jobs } = await backUp(dataFolder, '/backups/monday');
 * ```
 */
export function backUp(
  source: DataFolder,
  target: string,
  { withMasterKey = false, signal }: { withMasterKey?: boolean; signal?: AbortSignal } = {},
): Promise<BackupReport> {
  return source.alone(async () => {
    if (await source.masterKeyFiles.isRotating()) throw twoMasterKeys(source.path);
    return copyAll(source, target, { withMasterKey, signal }).catch((error: Error) => {
      throw explained(error);
    });
  });
}

interface CopyOptions {
  withMasterKey: boolean;
  signal: AbortSignal | undefined;
}

async function copyAll(source: DataFolder, target: string, options: CopyOptions): Promise<BackupReport> {
  await refuseExisting(target, 'The backup');
  const part = `${target}.part`;
  await rm(part, { recursive: true, force: true });
  try {
    return await copyInto(part, source, target, options);
  } catch (error) {
    // Frees the space; the disk may be full.
    await rm(part, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
}

async function copyInto(
  part: string,
  source: DataFolder,
  target: string,
  { withMasterKey, signal }: CopyOptions,
): Promise<BackupReport> {
  await mkdir(part, { recursive: true, mode: 0o700 });
  await source.copyDatabase(part);
  const contents = await checkAndCopyAssets(part, { source, signal });
  for (const name of STUDIO_PARTS) await copyTree(join(source.path, name), join(part, name));
  const keyFiles = withMasterKey
    ? [DATA_FILES.masterKey, DATA_FILES.masterKeyCheck]
    : [DATA_FILES.masterKeyCheck];
  for (const name of keyFiles) {
    const bytes = await realDisk.read(join(source.path, name));
    if (bytes) await replaceFile(realDisk, part, name, [bytes]);
  }
  const files: Manifest['files'] = {};
  for (const path of await filesIn(part)) {
    signal?.throwIfAborted();
    files[path] = await fingerprintOf(join(part, path));
  }
  const manifest: Manifest = {
    format: 1,
    createdAt: isoTime(source.clock.now()),
    jobs: contents.jobs,
    files,
  };
  await replaceFile(realDisk, part, MANIFEST, [Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)]);
  await syncTree(part);
  await rename(part, target);
  await realDisk.syncFolder(dirname(target));
  return report(target, manifest, contents);
}

/**
 * Restores a data folder from a backup, after verifying all its files. Overwrites nothing. Deliveries that were due
 * at the time of the backup are sent after the next start, possibly for the second time; receivers identify them by
 * `jobId`. With `dropDeliveries` they are marked as failed instead and can be redelivered individually. Errors:
 * `not_found`, `storage_damaged`, `conflict`, `storage_failed` when the folder cannot be created, `master_key` when
 * the given key is wrong. On error nothing is restored.
 *
 * ```ts
 * await restore('/backups/monday', './renders', { dropDeliveries: true });
 * ```
 */
export async function restore(
  backup: string,
  target: string,
  { dropDeliveries = false, masterKey: given, storeMasterKey = false }: RestoreOptions = {},
): Promise<BackupReport & { masterKey: RestoredMasterKey }> {
  const manifest = await readManifest(backup);
  const masterKey = given === undefined ? undefined : await rightKey(given, backup);
  for (const [path, expected] of Object.entries(manifest.files)) {
    const found = await fingerprintOf(join(backup, path)).catch(() => undefined);
    if (found?.sha256 !== expected.sha256) {
      throw new ScenepressError(
        'storage_damaged',
        `The backup ${backup} is damaged: ${path} is ${found ? 'altered' : 'missing'}. Nothing was restored.`,
      );
    }
  }
  await refuseExisting(target, 'The data folder');
  const part = `${target}.part`;
  await tryPlace(part, target);
  await copyTree(backup, part);
  await rm(join(part, MANIFEST));
  const contents = await checkAndCopyAssets(part, { dropDeliveries, masterKey });
  const where = await placeMasterKey(part, contents.secrets, storeMasterKey ? given : undefined, masterKey);
  await syncTree(part);
  // Replaces an empty folder, if any.
  await rename(part, target);
  await realDisk.syncFolder(dirname(target));
  return { ...report(target, manifest, contents), masterKey: where };
}

/** Checks before copying that a folder can be created beside the target and renamed to it. */
async function tryPlace(part: string, target: string): Promise<void> {
  try {
    await rm(part, { recursive: true, force: true });
    await mkdir(dirname(part), { recursive: true });
    await mkdir(part, { mode: 0o700 });
    if (existsSync(target)) await rename(part, target);
  } catch (cause) {
    await rm(part, { recursive: true, force: true }).catch(() => {});
    const { code } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'EBUSY'
        ? `${target} is a mount point, which can't be replaced. Use a folder in it`
        : `${part} can't be created and renamed to ${target} (${code}). Run this as a user that may write to ` +
          `${dirname(target)}, or use another folder`;
    throw new ScenepressError('storage_failed', `Nothing was restored: ${reason}.`, { cause });
  }
}

/** Checks before copying that the given key is that of the backup. */
async function rightKey(given: string, backup: string): Promise<MasterKey> {
  const masterKey = MasterKey.fromHex(given);
  const check = await realDisk.read(join(backup, DATA_FILES.masterKeyCheck));
  if (check && !masterKey.decrypts(check.toString().trim().split('\n')))
    throw wrongKey('it decrypts none of them');
  return masterKey;
}

/** Stores the master key in a restored folder if requested; returns the key's location. */
async function placeMasterKey(
  folder: string,
  secrets: SecretsCheck,
  stored: string | undefined,
  given: MasterKey | undefined,
): Promise<RestoredMasterKey> {
  try {
    secrets.assertDecrypts();
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  if (stored !== undefined) {
    await replaceFile(realDisk, folder, DATA_FILES.masterKey, [Buffer.from(`${stored.trim()}\n`)]);
    return 'in the folder';
  }
  if (given) return 'given';
  if (existsSync(join(folder, DATA_FILES.masterKey))) return 'in the folder';
  if (secrets.count > 0) return 'missing';
  // Nothing is sealed: the check file would make the next start require the old key.
  await rm(join(folder, DATA_FILES.masterKeyCheck), { force: true });
  return 'none';
}

/** Opens a copied database and reads all of it; with `source`, copies the artifacts first. */
async function checkAndCopyAssets(
  path: string,
  {
    source,
    dropDeliveries = false,
    masterKey,
    signal,
  }: {
    source?: DataFolder;
    dropDeliveries?: boolean;
    masterKey?: MasterKey | undefined;
    signal?: AbortSignal | undefined;
  },
): Promise<Contents> {
  const copy = new DataFolder(path);
  await copy.start();
  let jobs = 0;
  let dueDeliveries = 0;
  const secrets = new SecretsCheck(masterKey);
  try {
    dueDeliveries = await countDue(copy, dropDeliveries);
    for await (const { artifacts } of copy.storage.jobsWithArtifacts()) {
      for (const { assetKey, sizeBytes } of artifacts) {
        signal?.throwIfAborted();
        if (source && (await statusOf(source.assets.path(assetKey)))) {
          await copy.assets.put(assetKey, { path: source.assets.path(assetKey) }).catch(unlessGone);
        }
        const found = await statusOf(copy.assets.path(assetKey));
        // A missing artifact was removed by retention meanwhile, which is no damage.
        if (found && found.size !== sizeBytes) throw damaged(path, `${assetKey} has ${found.size} bytes`);
      }
    }
    const unsourced = await copy.jobWithoutSource();
    if (unsourced !== undefined) throw damaged(path, `${unsourced} has no source`);
    for await (const page of pagesOfJobs(copy.storage, { limit: PAGE })) {
      for (const job of page) secrets.addJob(job);
      jobs += page.length;
    }
    const keys = allPages(
      (page) => copy.keyStore.listKeys(page),
      ({ keyId }) => keyId,
    );
    for await (const key of keys) secrets.addKey(key);
  } finally {
    await copy.stop();
    for (const name of LOCK_FILES) await rm(join(path, name), { force: true });
  }
  return { jobs, dueDeliveries, secrets };
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** The number of unfinished deliveries; with `drop`, marks them as failed. */
async function countDue({ storage }: DataFolder, drop: boolean): Promise<number> {
  let count = 0;
  const pages = pagesOf(
    (page) => storage.deliveries.listUnfinished(page),
    ({ deliveryId }) => deliveryId,
    PAGE,
  );
  for await (const page of pages) {
    if (!drop) count += page.length;
    else
      await storage.transaction(async (tx) => {
        for (const delivery of page) await storage.deliveries.update(tx, { ...delivery, dueAtMs: null });
      });
  }
  return count;
}

async function readManifest(backup: string): Promise<Manifest> {
  try {
    const manifest = JSON.parse(await readFile(join(backup, MANIFEST), 'utf8')) as Manifest;
    if (manifest.format === 1) return manifest;
  } catch (cause) {
    throw new ScenepressError(
      'not_found',
      `${backup} is not a complete backup: it has no readable ${MANIFEST}. Nothing was restored.`,
      { cause },
    );
  }
  throw new ScenepressError(
    'storage_damaged',
    `${backup} was made by a later version. Restore it with that one.`,
  );
}

async function refuseExisting(path: string, what: string): Promise<void> {
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

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Streams the file: studio folders may hold files of many gigabytes. */
async function fingerprintOf(path: string): Promise<{ sha256: string; sizeBytes: number }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    hash.update(piece as Buffer);
    sizeBytes += (piece as Buffer).length;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

/** Copies a tree of files, folders and links; no effect when `from` does not exist. */
async function copyTree(from: string, to: string): Promise<void> {
  if (!(await statusOf(from))) return;
  const filter = async (path: string) => {
    const status = await lstat(path);
    return status.isFile() || status.isDirectory() || status.isSymbolicLink();
  };
  await cp(from, to, { recursive: true, verbatimSymlinks: true, filter });
}

/** Flushes all files and folders of a tree. */
async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
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

function report(
  folder: string,
  { files }: Manifest,
  { jobs, dueDeliveries, secrets }: Contents,
): BackupReport {
  const sizes = Object.values(files).map(({ sizeBytes }) => sizeBytes);
  const sizeBytes = sizes.reduce((sum, size) => sum + size, 0);
  const sealedSecrets = secrets.found;
  return { folder, jobs, dueDeliveries, files: sizes.length, sizeBytes, sealedSecrets };
}

/** Converts system errors that name a file. */
function explained(error: NodeJS.ErrnoException): Error {
  if (isScenepressError(error) || error.path === undefined) return error;
  return new ScenepressError(
    'storage_failed',
    `The backup was not made: ${error.path} can't be read or written (${error.code}). Fix this, then repeat it.`,
    { cause: error },
  );
}

function twoMasterKeys(path: string): ScenepressError {
  return new ScenepressError(
    'conflict',
    `The replacement of the master key of ${path} was interrupted: some secrets need the former key. Complete it ` +
      'first: `scenepress master-key rotate`.',
  );
}

function damaged(path: string, what: string): ScenepressError {
  return new ScenepressError(
    'storage_damaged',
    `The copy in ${path} is damaged: ${what}. It was kept for inspection.`,
  );
}
