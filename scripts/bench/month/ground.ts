import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The checkout. */
export const ROOT: string = join(import.meta.dirname, '../../..');

/** Folders that events change. */
const COVERED = ['/etc', '/var', '/usr', join(ROOT, '.venv'), join(ROOT, 'renderer')];
const OVERLAY =
  'mkdir "$1" "$1/upper" "$1/work" && chmod --reference="$0" "$1/upper" && mount -t overlay -o "lowerdir=$0,upperdir=$1/upper,workdir=$1/work" overlay "$0"';

/** Size of the disk with the data. Few inodes, so that they are quickly used up. */
const DISK = 'size=256m,nr_inodes=20000,mode=755';

/** Folders of one month, in a mount namespace of its own. */
export interface Ground {
  /** A small disk with the data folder, backups and the files of the log. */
  disk: string;
  /** For everything that is not the service's. */
  own: string;
}

/** Covers folders of the machine with copies that can be changed, and mounts a disk for the data. */
export function prepareGround(folder: string): Ground {
  run(`mount -t tmpfs -o mode=711 tmpfs "$0"`, folder);
  for (const [index, path] of COVERED.entries()) run(OVERLAY, path, join(folder, `cover-${index}`));
  const ground = { disk: join(folder, 'disk'), own: join(folder, 'own') };
  for (const path of Object.values(ground)) mkdirSync(path, { mode: 0o755 });
  run(`mount -t tmpfs -o ${DISK} tmpfs "$0"`, ground.disk);
  for (const name of ['tmp', 'home']) mkdirSync(join(ground.own, name));
  for (const name of ['tmp', 'home']) chmodSync(join(ground.own, name), 0o1777);
  return ground;
}

/** Runs a shell script whose `$0`, `$1` … are the given paths. Errors: with what it printed. */
export function run(script: string, ...paths: string[]): void {
  execFileSync('sh', ['-ec', script, ...paths], { stdio: ['ignore', 'ignore', 'pipe'] });
}
