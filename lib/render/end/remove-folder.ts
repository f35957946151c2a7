import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, type FileHandle, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';

// Not among Node's constants, and the same on every architecture: opens also what may not be looked into.
const O_PATH = 0o10000000;
const FOLDER_ITSELF = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const PERMISSIONS = 0o7777;

/**
 * Removes a folder that a scene has had, whatever the scene has made of it: folders that their owner may not look
 * into, names that are no text, paths longer than any path may be. No process of the job should be left; if one is,
 * it can't lead the removal elsewhere, because every step goes by a folder's descriptor and a name in it.
 */
export async function removeFolder(path: string): Promise<void> {
  const top = await openFolder(path);
  if (!top) return;
  try {
    const prefix = randomUUID(); // A name that no scene has taken.
    const full: Buffer[] = [];
    await clear(top, async (name) => void full.push(name));
    for (let name = full.pop(), moved = 0; name !== undefined; name = full.pop()) {
      await usingFolder(within(top, name), (folder) =>
        // To the top, so that no descriptor is needed for each level.
        clear(folder, async (inner) => {
          const outside = Buffer.from(`${prefix}-${moved++}`);
          const inside = within(folder, inner);
          await usingFolder(inside, async () => {}); // To be moved, a folder must be writable itself.
          await rename(inside, within(top, outside));
          full.push(outside);
        }),
      );
      await unlessMissing(rmdir(within(top, name)));
    }
  } finally {
    await top.close();
  }
  await unlessMissing(rmdir(path));
}

/** The same, but never rejects: what stays is no reason to end anything differently. The next start tries again. */
export async function discardFolder(path: string, onProblem: (problem: string) => void): Promise<void> {
  try {
    await removeFolder(path);
  } catch (error) {
    onProblem(`A folder could not be removed (${(error as Error).message}); the next start tries again.`);
  }
}

/** Removes what is in a folder, but for folders that aren't empty. */
async function clear(folder: FileHandle, onFull: (name: Buffer) => Promise<void>): Promise<void> {
  const entries = await readdir(itself(folder), { encoding: 'buffer', withFileTypes: true });
  for (const entry of entries) {
    const path = within(folder, entry.name);
    if (!entry.isDirectory()) await unlessMissing(unlink(path));
    else if (!(await removedEmpty(path))) await onFull(entry.name);
  }
}

async function removedEmpty(path: Buffer): Promise<boolean> {
  try {
    await unlessMissing(rmdir(path));
    return true;
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY') throw error;
    return false;
  }
}

async function usingFolder(path: Buffer, use: (folder: FileHandle) => Promise<void>): Promise<void> {
  const folder = await openFolder(path);
  try {
    if (folder) await use(folder);
  } finally {
    await folder?.close();
  }
}

/** Opens a folder and lets its owner do with it what an owner may; undefined when it isn't there. */
async function openFolder(path: string | Buffer): Promise<FileHandle | undefined> {
  const folder = await unlessMissing(open(path, FOLDER_ITSELF));
  if (!folder) return undefined;
  try {
    const { mode } = await folder.stat();
    if ((mode & 0o700) !== 0o700) await chmod(itself(folder), (mode & PERMISSIONS) | 0o700);
    return folder;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** The way to an open folder, whatever its path has become. */
function itself(folder: FileHandle): string {
  return `/proc/self/fd/${folder.fd}`;
}

function within(folder: FileHandle, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${itself(folder)}/`), name]);
}

async function unlessMissing<T>(doing: Promise<T>): Promise<T | undefined> {
  try {
    return await doing;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
