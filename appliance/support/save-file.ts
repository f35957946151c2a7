import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { openRegularFile } from '../../lib/internal.ts';
import { UserError } from './user-error.ts';

/** Copies a file to a path, by renaming a temporary copy. */
export async function saveFile(from: string, path: string): Promise<void> {
  const part = `${path}.part`;
  try {
    const file = await openRegularFile(from);
    await rm(part, { force: true }); // It may be a link.
    // Not copyFile, which keeps the mode of the renders' user.
    await pipeline(file.createReadStream(), createWriteStream(part, { flags: 'wx' }));
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true });
    throw new UserError(`${path} can't be written: ${(cause as Error).message}.`, { cause });
  }
}
