import { existsSync } from 'node:fs';
import { mkdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ScenepressError } from '../base/errors.ts';
import { known } from '../base/known-options.ts';
import { DATA_FILES } from '../files/data-files.ts';
import { realDisk, replaceFile } from '../files/disk.ts';
import { MasterKey } from '../keys/master-key.ts';
import { type SecretsCheck, wrongKey } from '../keys/sealed-secrets.ts';
import {
  checkAndCopyAssets,
  copyTree,
  MANIFEST,
  refuseExisting,
  reportOf,
  syncTree,
} from './backup-contents.ts';
import type { BackupReport, RestoredMasterKey, RestoreOptions } from './backup-report.ts';
import { verifyBackup } from './verify-backup.ts';

/**
 * Restores a data folder from a backup, after verifying all its files. What the manifest lacks is refused. Overwrites nothing. Deliveries that were due
 * at the time of the backup are sent after the next start, possibly for the second time; receivers identify them by
 * `jobId`. With `dropDeliveries` they are marked as failed instead and can be redelivered individually. Errors:
 * `not_found`, `storage_damaged`, `conflict`, `storage_failed` when the folder cannot be created, `master_key` when
 * the given key is wrong. On error nothing is restored, nor when `signal` aborts it.
 *
 * ```ts
 * await restore('/backups/monday', './renders', { dropDeliveries: true });
 * ```
 */
export async function restore(
  backup: string,
  target: string,
  options: RestoreOptions = {},
): Promise<BackupReport & { masterKey: RestoredMasterKey }> {
  const names = { dropDeliveries: true, masterKey: true, storeMasterKey: true, signal: true };
  const {
    dropDeliveries = false,
    masterKey: given,
    storeMasterKey = false,
    signal,
  } = known('restore', options, names);
  const masterKey = given === undefined ? undefined : await rightKey(given, backup);
  const manifest = await verifyBackup(backup, { target, outcome: 'Nothing was restored.', signal });
  await refuseExisting(target, 'The data folder');
  const part = `${target}.part`;
  await tryPlace(part, target);
  try {
    // A link to the backup, such as `latest`, would be copied itself.
    await copyTree(await realpath(backup), part, signal);
    await rm(join(part, MANIFEST));
    const contents = await checkAndCopyAssets(part, { dropDeliveries, masterKey, signal });
    const where = await placeMasterKey(part, contents.secrets, storeMasterKey ? given : undefined, masterKey);
    await syncTree(part, signal);
    signal?.throwIfAborted();
    // Replaces an empty folder, if any.
    await rename(part, target);
    await realDisk.syncFolder(dirname(target));
    return { ...reportOf(target, manifest, contents), masterKey: where };
  } catch (error) {
    // A damaged copy is kept for inspection.
    if (signal?.aborted) await rm(part, { recursive: true, force: true });
    throw error;
  }
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
