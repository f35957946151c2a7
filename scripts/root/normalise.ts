import {
  chmodSync,
  existsSync,
  lstatSync,
  lutimesSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** What of the tree is packed: nothing is in the other folders but mounts. */
export const KEPT: string[] = ['bin', 'etc', 'lib', 'lib64', 'sbin', 'usr', 'var'];

/**
 * The same modes and times everywhere, links relative and none that lead nowhere, no devices, pipes or sockets, no file
 * that gives its user rights of another.
 */
export function normalise(tree: string, epochSeconds: number): void {
  const folders = KEPT.map((name) => join(tree, name));
  // Links lead to links: all are to be relative before one is followed.
  for (const folder of folders) relateLinks(tree, folder);
  for (const folder of folders) removeDeadLinks(folder);
  for (const folder of folders) visit(folder, epochSeconds);
}

function visit(path: string, epochSeconds: number): void {
  const stat = lstatSync(path);
  if (stat.isDirectory()) {
    for (const name of readdirSync(path)) visit(join(path, name), epochSeconds);
    chmodSync(path, 0o755);
  } else if (stat.isFile()) {
    chmodSync(path, stat.mode & 0o111 ? 0o755 : 0o644);
  } else if (!stat.isSymbolicLink()) {
    rmSync(path);
    return;
  }
  lutimesSync(path, epochSeconds, epochSeconds);
}

/** Absolute links would lead into the host where the root is not mounted as `/`. */
function relateLinks(tree: string, folder: string): void {
  for (const path of linksIn(folder)) {
    const target = readlinkSync(path);
    if (!target.startsWith('/')) continue;
    rmSync(path);
    symlinkSync(relative(dirname(path), join(tree, target)) || '.', path);
  }
}

function removeDeadLinks(folder: string): void {
  for (const path of linksIn(folder)) if (!existsSync(path)) rmSync(path);
}

function linksIn(path: string): string[] {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return [path];
  return stat.isDirectory() ? readdirSync(path).flatMap((name) => linksIn(join(path, name))) : [];
}
