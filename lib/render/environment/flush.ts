import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { flushFile } from '../../files/disk.ts';

/** The dynamic loader in a renderer root. */
export const LOADER = 'ld-linux-x86-64.so.2';
const LIBRARIES = 'usr/lib/x86_64-linux-gnu';

/** Flushing failed: some data may never reach the disk. */
export class NotFlushed extends Error {}

/**
 * Flushes the file system of a root. Node lacks syncfs(2), so this runs the root's `sync`. Keeps this process alive
 * until then: else each short-lived process would leave the flush to the next one.
 */
export async function flushFileSystem(root: string): Promise<void> {
  const libraries = join(root, LIBRARIES);
  const sync = [join(root, 'usr/bin/sync'), '--file-system', root];
  const child = spawn(join(libraries, LOADER), ['--library-path', libraries, ...sync], {
    stdio: 'ignore',
    env: {},
    detached: true, // Not in the terminal's process group, so Ctrl-C doesn't reach it.
  });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status === null) throw new Error(`Flushing ${root} to the disk was interrupted.`);
  if (status !== 0) throw new NotFlushed(`${root} could not be flushed to the disk.`);
}

/** Flushes the content of a file, or the entries of a folder, to the disk. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await flushFile(handle.fd);
  } finally {
    await handle.close();
  }
}
