import { spawnSync } from 'node:child_process';
import { closeSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** Throws if a program or library of the tree needs a removed library. */
export function checkLibraries(tree: string): void {
  const files = ['usr/bin', 'usr/lib/x86_64-linux-gnu', 'usr/local/lib'].flatMap((folder) =>
    binaries(tree, folder),
  );
  const problems = files.flatMap((file) => {
    const loader = '/lib64/ld-linux-x86-64.so.2';
    const { stdout } = spawnSync('chroot', [tree, loader, '--list', `/${file}`], { encoding: 'utf8' });
    return [...stdout.matchAll(/^\s*(\S+) => not found$/gm)].map(([, name]) => `${file} needs ${name}`);
  });
  if (problems.length > 0) throw new Error(`Missing libraries in the tree:\n${problems.join('\n')}`);
}

function binaries(tree: string, folder: string): string[] {
  return readdirSync(join(tree, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    const stat = lstatSync(join(tree, path));
    if (stat.isDirectory()) return binaries(tree, path);
    return stat.isFile() && isBinary(join(tree, path)) ? [path] : [];
  });
}

function isBinary(path: string): boolean {
  const file = openSync(path, 'r');
  const magic = Buffer.alloc(4);
  readSync(file, magic, 0, 4, 0);
  closeSync(file);
  return magic.toString('latin1') === '\x7fELF';
}
