import { constants } from 'node:fs';
import { copyFile, rename, rm } from 'node:fs/promises';
import { UserError } from '../user-error.ts';

/** Copies a file to a path, by renaming a temporary copy. */
export async function saveFile(from: string, path: string): Promise<void> {
  const part = `${path}.part`;
  try {
    await copyFile(from, part, constants.COPYFILE_FICLONE);
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true });
    throw new UserError(`${path} can't be written: ${(cause as Error).message}.`, { cause });
  }
}
