import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Parts } from './packages.ts';

const NEEDED = ['virtio_pci', 'virtio_blk', 'virtiofs', 'overlay'];
const SCRIPTS = ['start.sh', 'enter-group.sh'];

/** The file system that the kernel starts with, as the path of an archive in `folder`: the first processes, and `job`. */
export function initramfs({ modules, busybox }: Parts, folder: string, job: string): string {
  const tree = join(folder, 'initramfs');
  mkdirSync(join(tree, 'modules'), { recursive: true });
  for (const [n, file] of inOrder(modules).entries())
    copyFileSync(file, join(tree, 'modules', `${String(n).padStart(2, '0')}-${basename(file)}`));
  copyFileSync(busybox, join(tree, 'busybox'));
  copyFileSync(join(import.meta.dirname, 'init.sh'), join(tree, 'init'));
  chmodSync(join(tree, 'init'), 0o755);
  for (const name of SCRIPTS) copyFileSync(join(import.meta.dirname, name), join(tree, name));
  writeFileSync(join(tree, 'job.sh'), job);
  const archive = join(folder, 'initramfs.cpio');
  execFileSync('sh', ['-c', 'find . | cpio --quiet -o -H newc > "$0"', archive], { cwd: tree });
  return archive;
}

/** The files of the modules, each after its dependencies. Drivers built into the kernel have none. */
function inOrder(modules: string): string[] {
  const names = readdirSync(modules, { recursive: true, encoding: 'utf8' });
  const files = new Map<string, string>();
  for (const name of names) {
    const [, module] = /([^/]+)\.ko(\.xz)?$/.exec(name) ?? [];
    if (module) files.set(module.replaceAll('-', '_'), join(modules, name));
  }
  const order = new Set<string>();
  const add = (name: string) => {
    const packed = files.get(name);
    if (!packed) return;
    const file = uncompressed(packed);
    const depends = /\0depends=([^\0]*)/.exec(readFileSync(file, 'latin1'))?.[1] ?? '';
    for (const other of depends.split(',').filter(Boolean)) add(other);
    order.add(file);
  };
  for (const name of NEEDED) add(name);
  return [...order];
}

/** Debian 13 compresses modules. */
function uncompressed(file: string): string {
  if (!file.endsWith('.xz')) return file;
  execFileSync('xz', ['--decompress', file]);
  return file.slice(0, -'.xz'.length);
}
