import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Flushes a folder, so that a name made, changed or removed in it survives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Writes a file so that after a crash there is either the old content or the new, never a mixture: written beside,
 * flushed, renamed, and the folder flushed too.
 */
export async function writeDurably(
  path: string,
  content: string | ((file: FileHandle) => Promise<void>),
): Promise<void> {
  const beside = `${path}.new`;
  const file = await open(beside, 'w', 0o600);
  try {
    await (typeof content === 'string' ? file.writeFile(content) : content(file));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
  await syncFolder(dirname(path));
}
