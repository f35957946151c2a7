import { readFile, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { isSea } from 'node:sea';
import { type Archive, findArchive, rendererFolder, UnpackedRoot } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';

type Places = Pick<Config, 'rendererDir' | 'dataDir'>;

/**
 * The root for a command that renders without a service. `lasting`: one in the user's cache, unpacked once. Otherwise
 * an existing one, preferably the service's, or else one that is unpacked only for this command (`temporary`).
 * Undefined if this isn't the single executable.
 */
export async function rootForCommand(
  { rendererDir, dataDir }: Places,
  { lasting, archive = ownArchive() }: { lasting: boolean; archive?: Archive | undefined },
): Promise<UnpackedRoot | undefined> {
  if (!archive) return undefined;
  if (!lasting && rendererDir === undefined) {
    const ofService = new UnpackedRoot({ archive, folder: resolve(dataDir, 'renderer') });
    if (await ofService.isWhole()) return ofService;
  }
  const folder = rendererDir === undefined ? rendererFolder() : resolve(rendererDir);
  const root = new UnpackedRoot({ archive, folder });
  return lasting || (await root.isWhole()) ? root : new UnpackedRoot({ archive, folder, temporary: true });
}

/** The archive of the running program; undefined if it isn't the single executable. */
export function ownArchive(): Archive | undefined {
  return isSea() ? findArchive(process.execPath) : undefined;
}

/**
 * A parent for temporary folders with programs: the system's, unless it is mounted `noexec`, like Docker's
 * `--tmpfs /tmp`. Then the root's folder, from which programs are executed anyway.
 */
export async function programsFolder(root: UnpackedRoot | undefined): Promise<string> {
  const usual = tmpdir();
  return root && (await forbidsPrograms(usual)) ? root.folder : usual;
}

async function forbidsPrograms(path: string): Promise<boolean> {
  const real = await realpath(path).catch(() => path);
  const mounts = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  let [nearest, options] = ['', ''];
  for (const line of mounts.split('\n')) {
    const [, , , , at = '', itsOptions = ''] = line.split(' ');
    const place = at.replace(/\\(\d{3})/g, (_, digits) => String.fromCharCode(Number.parseInt(digits, 8)));
    const isAbove = real === place || real.startsWith(place === '/' ? '/' : `${place}/`);
    // If several file systems are mounted at one path, the last is effective.
    if (place !== '' && isAbove && place.length >= nearest.length) [nearest, options] = [place, itsOptions];
  }
  return options.split(',').includes('noexec');
}
