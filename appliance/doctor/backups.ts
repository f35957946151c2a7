import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type BackupsInfo, isoTime } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import { nearestFolder } from './machine.ts';

const CHECK = 'Backups';

/**
 * Checks the folder of scheduled backups, and whether the last one succeeded; undefined if none are configured. `info`: what
 * the running service knows, or else the folder says; null if there is no data.
 */
export async function examineBackups(
  { backupDir, dataDir }: Pick<Config, 'backupDir' | 'dataDir'>,
  info: BackupsInfo | null,
): Promise<Finding | undefined> {
  if (backupDir === undefined) return undefined;
  const folder = resolve(backupDir);
  try {
    const status = await stat(folder);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    if (!status.isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
    const known = info?.folder === folder ? info : null;
    if (known?.lastFailure && known.hasFailed) {
      const { reason, message, remedy } = known.lastFailure;
      return failed(CHECK, `the last one failed: ${reason} (${message})`, remedy);
    }
    if (known?.warnings[0] !== undefined)
      return warning(CHECK, known.warnings[0], 'Make one with `scenepress backup`.');
    const last = known?.lastSuccessAtMs ?? null;
    const said = `${folder}: ${last === null ? 'no complete backup yet' : `the last one is of ${isoTime(last)}`}`;
    if (status.dev !== (await stat(nearestFolder(dataDir))).dev) return ok(CHECK, said);
    return warning(
      CHECK,
      `${said}; it is on the same file system as the data folder, and would be lost with it`,
      'Use a folder on another disk: --backup-dir.',
    );
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return failed(
      CHECK,
      `${folder} can't be used (${code})`,
      'Create it, mount its disk, or make this user its owner; or choose another folder with --backup-dir.',
    );
  }
}
