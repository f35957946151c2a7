import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { type Finding, failed, ok } from './finding.ts';
import { nearestFolder } from './machine.ts';

/** Whether the first start can create a folder, which `flag` sets. */
export async function examineFuture(check: string, folder: string, flag: string): Promise<Finding> {
  const place = nearestFolder(folder);
  try {
    await access(place, constants.W_OK | constants.X_OK);
    return ok(check, `${folder} contains no data yet: the first start creates it`);
  } catch {
    return failed(
      check,
      `${folder} can't be created: this user may not write to ${place}`,
      `Choose another folder with ${flag}, or create it and make this user its owner.`,
    );
  }
}

/** Whether there is a file or folder. */
export async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}
