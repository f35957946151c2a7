import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isScenepressError, ScenepressError } from '../base/errors.ts';
import { known } from '../base/known-options.ts';
import { DATA_FILES, STUDIO_PARTS } from '../files/data-files.ts';
import { realDisk, replaceFile } from '../files/disk.ts';
import { isoTime } from '../time/clock.ts';
import {
  checkAndCopyAssets,
  copyTree,
  fingerprintOf,
  MANIFEST,
  type Manifest,
  refuseExisting,
  reportOf,
  syncTree,
} from './backup-contents.ts';
import { entriesIn, wrongLinkIn } from './backup-entries.ts';
import type { BackupReport } from './backup-report.ts';
import type { DataFolder } from './data-folder.ts';
import { verifyBackup } from './verify-backup.ts';

/**
 * Copies a data folder to a new folder while the service runs: a consistent snapshot of jobs and ledger, with the
 * jobs' sources and artifacts, accounts, keys and the studio folders. The copy is verified before it is renamed into
 * place; an unreadable file fails it (`storage_failed`). The master key is only included on request. Backups and
 * replacements of the master key exclude each other; an interrupted replacement must be completed first (`conflict`).
 * `signal` aborts it, though not within the copy of the database, and then nothing is left of it.
 *
 * ```ts
 * const { folder, jobs } = await backUp(dataFolder, '/backups/monday');
 * ```
 */
export async function backUp(
  source: DataFolder,
  target: string,
  options: { withMasterKey?: boolean; signal?: AbortSignal } = {},
): Promise<BackupReport> {
  const { withMasterKey = false, signal } = known('backUp', options, { withMasterKey: true, signal: true });
  return source.alone(async () => {
    if (await source.masterKeyFiles.isRotating()) throw twoMasterKeys(source.path);
    return source
      .backingUp(() => copyAll(source, target, { withMasterKey, signal }))
      .catch((error: Error) => {
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
  for (const name of STUDIO_PARTS) await copyTree(join(source.path, name), join(part, name), signal);
  const keyFiles = withMasterKey
    ? [DATA_FILES.masterKey, DATA_FILES.masterKeyCheck]
    : [DATA_FILES.masterKeyCheck];
  for (const name of keyFiles) {
    const bytes = await realDisk.read(join(source.path, name));
    if (bytes) await replaceFile(realDisk, part, name, [bytes]);
  }
  const entries = await entriesIn(part);
  const { links } = entries;
  const wrong = await wrongLinkIn(links, { from: source.path, target: source.path });
  if (wrong !== undefined) throw leadsAstray(join(source.path, wrong));
  const files: Manifest['files'] = {};
  for (const path of entries.files) {
    files[path] = await fingerprintOf(join(part, path), signal);
  }
  const manifest: Manifest = {
    format: 1,
    createdAt: isoTime(source.clock.now()),
    jobs: contents.jobs,
    files,
    links,
  };
  await replaceFile(realDisk, part, MANIFEST, [Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)]);
  await syncTree(part, signal);
  // As a restore will.
  await verifyBackup(part, { target: source.path, outcome: 'No backup was made.', signal });
  await rename(part, target);
  await realDisk.syncFolder(dirname(target));
  return reportOf(target, manifest, contents);
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

function leadsAstray(path: string): ScenepressError {
  return new ScenepressError(
    'storage_failed',
    `The backup was not made: ${path} is a link to other data of the folder, or to a folder above it. Scenes could ` +
      'read the data through it. Remove the link, then repeat the backup.',
  );
}

function twoMasterKeys(path: string): ScenepressError {
  return new ScenepressError(
    'conflict',
    `The replacement of the master key of ${path} was interrupted: some secrets need the former key. Complete it ` +
      'first: `scenepress master-key rotate`.',
  );
}
