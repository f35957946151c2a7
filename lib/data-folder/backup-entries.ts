import { readdir, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { STUDIO_PARTS } from '../files/data-files.ts';

/** What lies in a folder, by its path in it; without folders. */
export interface Entries {
  files: string[];
  /** Targets of symbolic links. */
  links: Record<string, string>;
  /** Devices, pipes and sockets. */
  others: string[];
}

/** All entries of a tree, in order; links are not followed. */
export async function entriesIn(folder: string): Promise<Entries> {
  const entries: Entries = { files: [], links: Object.create(null), others: [] };
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const placed = found.map((entry) => ({
    entry,
    path: relative(folder, join(entry.parentPath, entry.name)),
  }));
  for (const { entry, path } of placed.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    if (entry.isDirectory()) continue;
    if (entry.isFile()) entries.files.push(path);
    else if (entry.isSymbolicLink()) entries.links[path] = await readlink(join(folder, path));
    else entries.others.push(path);
  }
  return entries;
}

/**
 * The first link that must not be in a data folder at `target`; undefined if all may. Links belong to the studio's
 * material only, and one that leads to other data of the folder, or above it, would show the data to scenes. `from`:
 * where the links are now.
 */
export async function wrongLinkIn(
  links: Record<string, string>,
  { from, target }: { from: string; target: string },
): Promise<string | undefined> {
  const [root, place] = [await realPlaceOf(from), await realPlaceOf(target)];
  for (const [path, to] of Object.entries(links)) {
    if (!isWithinParts(path)) return path;
    if (leadsAstray(resolve(target, dirname(path), to), target)) return path;
    // By way of other links.
    const reached = await realPlaceOf(join(from, path));
    if (leadsAstray(reached, isAbsolute(to) ? place : root)) return path;
  }
  return undefined;
}

function leadsAstray(reached: string, folder: string): boolean {
  const path = relative(folder, reached);
  const [first, ...others] = path.split('/');
  return first === '..' ? others.every((name) => name === '..') : !isWithinParts(path);
}

function isWithinParts(path: string): boolean {
  return STUDIO_PARTS.includes(path.split('/', 1)[0] as string);
}

/** The path without links, also of what doesn't exist yet. */
async function realPlaceOf(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined || dirname(path) === path) return found ?? path;
  return join(await realPlaceOf(dirname(path)), basename(path));
}
