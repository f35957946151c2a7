import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deb } from './apt.ts';

/** A package of the renderer root or of the build environment of its Python packages. */
export interface LockedDeb extends Deb {
  /** SPDX expression; `NOASSERTION` if the licence isn't known. */
  licence: string;
  /** In the root itself, only in the build environment, or only used for its notices. */
  stage: Stage;
}

export interface FetchedDeb extends LockedDeb {
  /** Path of its file. */
  path: string;
}

const STAGES = ['root', 'build', 'notices'] as const;
type Stage = (typeof STAGES)[number];

/** The lock file, which defines the exact content of the renderer root. */
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
  // Sorted independently of the locale.
  const lines = STAGES.flatMap((stage) =>
    debs
      .filter((deb) => deb.stage === stage)
      .map((deb) => [stage, deb.name, deb.version, deb.architecture, deb.sha256, deb.licence].join('\t'))
      .sort(),
  );
  writeFileSync(LOCK_FILE, `${HEADER}${lines.join('\n')}\n`);
}
