/**
 * Locks the Debian packages of the renderer root to the newest versions of the mirror:
 *
 *   npm run lock:root [-- --mirror URL --security-mirror URL]
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Apt, type Deb } from './apt.ts';
import { NOTICE_PACKAGES } from './bundled.ts';
import { commandLine } from './command-line.ts';
import { licenceOfDeb } from './licences.ts';
import { type LockedDeb, writeLock } from './lock-file.ts';
import { BUILD_PACKAGES, ROOT_PACKAGES } from './packages.ts';

/** The newest packages with their licences. */
export function newestPackages(apt: Apt, cache: string): LockedDeb[] {
  const root = apt.resolve(ROOT_PACKAGES);
  const build = apt.resolve(BUILD_PACKAGES);
  const notices = apt.resolve(NOTICE_PACKAGES).filter(({ name }) => NOTICE_PACKAGES.includes(name));
  const stages = new Map<string, [Deb, LockedDeb['stage']]>();
  for (const [debs, stage] of [
    [root, 'root'],
    [notices, 'notices'],
    [build, 'build'],
  ] as const) {
    for (const deb of debs) if (!stages.has(deb.name)) stages.set(deb.name, [deb, stage]);
  }
  const all = [...stages.values()];
  const paths = apt.download(
    all.map(([deb]) => deb),
    join(cache, 'debs'),
  );
  return all.map(([deb, stage], index) => ({
    ...deb,
    stage,
    licence: licenceOfDeb(
      deb.name,
      paths[index] as string,
      join(tmpdir(), `scenepress-licence-${process.pid}`),
    ),
  }));
}

if (import.meta.main) {
  const { mirrors, cache } = commandLine();
  const apt = new Apt({ folder: join(cache, 'apt'), mirrors });
  apt.update();
  const debs = newestPackages(apt, cache);
  writeLock(debs);
  console.log(`${debs.length} packages locked.`);
}
