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

/** The packed folders of the tree; the others only contain mounts. */
export const KEPT: string[] = ['bin', 'etc', 'lib', 'lib64', 'sbin', 'usr', 'var'];

/**
 * Makes modes and times uniform and links relative; removes broken links, devices, pipes, sockets and set-ID bits.
 */
export function normalise(tree: string, epochSeconds: number): void {
  const folders = KEPT.map((name) => join(tree, name));
  // Links can refer to links, so make all relative before following any.
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

/** Absolute links would refer to the host if the root isn't mounted as `/`. */
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
