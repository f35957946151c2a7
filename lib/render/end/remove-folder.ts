import { constants } from 'node:fs';
import { chmod, type FileHandle, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { systemRandom } from '../../base/random.ts';

// Missing in Node's constants; the same on all architectures. Opens folders without read permission.
const O_PATH = 0o10000000;
const FOLDER_ITSELF = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const PERMISSIONS = 0o7777;

/**
 * Removes a folder of a scene, whatever it contains: unreadable folders, names that are not text, paths beyond the
 * maximum length. A surviving process of the job cannot redirect the removal, because every step uses a folder
 * descriptor and a name in it.
 */
export async function removeFolder(path: string): Promise<void> {
  const top = await openFolder(path);
  if (!top) return;
  try {
    const prefix = systemRandom.bytes(16).toString('hex'); // A prefix that no scene can guess.
    const full: Buffer[] = [];
    await clear(top, async (name) => void full.push(name));
    for (let name = full.pop(), moved = 0; name !== undefined; name = full.pop()) {
      await usingFolder(within(top, name), (folder) =>
        // Moved to the top, so the depth does not require a descriptor per level.
        clear(folder, async (inner) => {
          const outside = Buffer.from(`${prefix}-${moved++}`);
          const inside = within(folder, inner);
          await usingFolder(inside, async () => {}); // A folder must be writable to be moved.
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

/** Removes a folder; reports problems instead of rejecting. The next start retries. */
export async function discardFolder(path: string, onProblem: (problem: string) => void): Promise<void> {
  try {
    await removeFolder(path);
  } catch (error) {
    onProblem(`A folder could not be removed (${(error as Error).message}); the next start tries again.`);
  }
}

/** Removes the entries of a folder, except non-empty folders. */
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

/** Opens a folder and gives its owner all permissions; undefined when it does not exist. */
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

/** The path of an open folder, independent of renames. */
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
