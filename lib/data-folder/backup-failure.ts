import { isScenepressError } from '../base/errors.ts';
import { isOutOfSpace } from '../files/disk.ts';

/** Why a backup failed, without paths and names, and what to do. */
export interface BackupFailure {
  /** Follows “failed:”. */
  reason: string;
  /** A sentence. */
  remedy: string;
}

const OF_THE_FOLDER = new Set([
  'EACCES',
  'EBUSY',
  'EIO',
  'ELOOP',
  'ENODEV',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
  'EROFS',
  'ESTALE',
]);

/** Explains the error of a backup that was made in `folder`. */
export function backupFailureOf(error: unknown, folder: string): BackupFailure {
  if (isOutOfSpace(error) || isScenepressError(error, 'storage_full')) {
    return {
      reason: 'the disk of the backup folder is too full',
      remedy: 'Free some space there, keep fewer backups (SCENEPRESS_BACKUPS_KEPT), or use a larger disk.',
    };
  }
  const { code, path } = systemErrorOf(error) ?? {};
  if (path !== undefined && `${path}/`.startsWith(`${folder}/`) && code && OF_THE_FOLDER.has(code)) {
    return {
      reason: `the backup folder can't be read or written (${code})`,
      remedy:
        'It must exist, on a disk that is mounted, and the user of the service must be allowed to write to it.',
    };
  }
  if (isScenepressError(error, 'storage_damaged')) {
    return {
      reason: 'the data, or the copy of it, is damaged',
      remedy: 'The log says which; `scenepress recover` lists what the data has lost.',
    };
  }
  return {
    reason: 'its cause is in the log',
    remedy: 'Remove the cause; until the next one, `scenepress backup` makes one.',
  };
}

function systemErrorOf(error: unknown): NodeJS.ErrnoException | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const found = at as NodeJS.ErrnoException;
    if (found.path !== undefined) return found;
  }
  return undefined;
}
