import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';

export const hashOf = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

/** The text of a file; undefined if it can't be read. */
export function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Makes an empty folder. */
export function fresh(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Replaces `place` by `made` with a rename, and removes the old content. */
export function swap(made, place, old) {
  rmSync(old, { recursive: true, force: true });
  if (existsSync(place)) renameSync(place, old);
  renameSync(made, place);
  rmSync(old, { recursive: true, force: true });
}

/** The search path without the programs of the checkout, which are about to be replaced. */
export function outsidePath(root) {
  const nodeModules = join(root, 'node_modules');
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== nodeModules && !folder.startsWith(nodeModules + sep))
    .join(delimiter);
}

/** The path of a program; undefined if it isn't on the search path. */
export function findProgram(name) {
  for (const folder of (process.env.PATH || '/usr/local/bin:/usr/bin:/bin').split(delimiter)) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Try the next folder.
    }
  }
  return undefined;
}
