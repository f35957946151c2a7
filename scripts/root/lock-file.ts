import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deb } from './apt.ts';

/** A package of the renderer root, or of the place where its Python packages are built. */
export interface LockedDeb extends Deb {
  /** SPDX expression; `NOASSERTION` where the package's own words are not a known licence's. */
  licence: string;
  /** Whether it is in the root itself, or only where Python packages are built. */
  stage: 'root' | 'build';
}

/** The lock: what is in the renderer root, to the byte. */
export const LOCK_FILE: string = join(import.meta.dirname, '../../renderer/debian.lock');

const HEADER =
  '# Debian packages of the renderer root: stage, name, version, architecture, SHA-256, licence (SPDX).\n';

export function readLock(): LockedDeb[] {
  return readFileSync(LOCK_FILE, 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => {
      const [stage, name, version, architecture, sha256, licence] = line.split('\t') as string[];
      return { stage, name, version, architecture, sha256, licence } as LockedDeb;
    });
}

export function writeLock(debs: LockedDeb[]): void {
  const lines = debs.map((deb) =>
    [deb.stage, deb.name, deb.version, deb.architecture, deb.sha256, deb.licence].join('\t'),
  );
  // Root before build, names in order, whatever the locale is.
  writeFileSync(LOCK_FILE, `${HEADER}${lines.sort().reverse().sort(byStage).join('\n')}\n`);
}

function byStage(one: string, other: string): number {
  const key = (line: string) => (line.startsWith('root') ? `0${line}` : `1${line}`);
  return key(one) < key(other) ? -1 : 1;
}
