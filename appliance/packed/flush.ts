import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** The loader of programs in a renderer root. */
export const LOADER = 'ld-linux-x86-64.so.2';
const LIBRARIES = 'usr/lib/x86_64-linux-gnu';

/** Some of it may be lost: it is neither on the disk, nor will it be. */
export class NotFlushed extends Error {}

/**
 * Puts everything on the disk that a root's file system holds. Node has no syncfs; the root's own `sync` has. Keeps this
 * process from ending: else a short one would leave the same to be done by each that follows.
 */
export async function flushFileSystem(root: string): Promise<void> {
  const libraries = join(root, LIBRARIES);
  const sync = [join(root, 'usr/bin/sync'), '--file-system', root];
  const child = spawn(join(libraries, LOADER), ['--library-path', libraries, ...sync], {
    stdio: 'ignore',
    env: {},
    detached: true, // Not of the terminal that this program runs in.
  });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status === null) throw new Error(`${root} is not put on the disk yet: that was ended.`);
  if (status !== 0) throw new NotFlushed(`${root} could not be put on the disk.`);
}

/** Puts a file's content on the disk, or a folder's own entries. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
