import type { Stats } from 'node:fs';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const OWN_ONLY = 0o077;
const STICKY = 0o1000;
const OTHERS_WRITE = 0o002;

/**
 * The folder of the sockets of processes that wait for calls of `scenepress render`. Only this user can enter or replace
 * it; undefined if there is no such folder. Loaded before everything else, so it imports no other modules.
 */
export async function warmFolder(): Promise<string | undefined> {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined;
  const runtime = process.env['XDG_RUNTIME_DIR'];
  const folder = runtime ? join(runtime, 'scenepress') : join(tmpdir(), `scenepress-${uid}`);
  const parent = await stat(dirname(folder)).catch(() => undefined);
  if (!parent || !isKeptFor(uid, parent)) return undefined;
  await mkdir(folder, { mode: 0o700 }).catch(() => {}); // It exists, or is found missing below.
  const status = await lstat(folder).catch(() => undefined);
  const isOurs = status?.isDirectory() && status.uid === uid && (status.mode & OWN_ONLY) === 0;
  return isOurs ? folder : undefined;
}

/** Whether others can't rename the entries that a user has in a folder. */
function isKeptFor(owner: number, { uid, mode }: Stats): boolean {
  return (
    (uid === owner && (mode & OTHERS_WRITE) === 0) || ((uid === owner || uid === 0) && (mode & STICKY) !== 0)
  );
}
