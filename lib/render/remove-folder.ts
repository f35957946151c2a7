import { randomUUID } from 'node:crypto';
import { chmod, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

const HOSTILE = new Set(['EACCES', 'EPERM', 'ENAMETOOLONG', 'ENOTEMPTY']);

/**
 * Removes a folder that a scene has had, whatever the scene has made of it: folders that their owner may not look
 * into, or so deep that their path is longer than any path may be. No process of the job may be left.
 */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true });
  } catch (error) {
    if (!HOSTILE.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await flatten(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

/** Opens all folders below one to their owner and moves them to its top, so that no path is long. */
async function flatten(top: string): Promise<void> {
  const prefix = randomUUID(); // A name that no scene has taken.
  await chmod(top, 0o700);
  const found = (await folderNames(top)).map((name) => join(top, name));
  for (let folder = found.pop(), moved = 0; folder !== undefined; folder = found.pop()) {
    await chmod(folder, 0o700);
    for (const name of await folderNames(folder)) {
      const inside = join(folder, name);
      await chmod(inside, 0o700); // To be moved, a folder must be writable itself.
      const outside = join(top, `${prefix}-${moved++}`);
      await rename(inside, outside);
      found.push(outside);
    }
  }
}

async function folderNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
