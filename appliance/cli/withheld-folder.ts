import { existsSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { DATA_FILES } from '../../lib/internal.ts';
import type { Config } from '../config/config.ts';

/**
 * Why scenes can't read a folder unless it is named: it is or contains the home directory, the system's temporary folder
 * or the data folder, which have secrets. A sentence, or null for other folders.
 */
export function whyWithheld(path: string, { dataDir }: Pick<Config, 'dataDir'>): string | null {
  const places: [name: string, find: () => string][] = [
    ['your home directory', homedir],
    ['the folder for temporary files', tmpdir],
  ];
  // By default it is ./data, where an author may have data for the scenes.
  const isUsed = [DATA_FILES.database, DATA_FILES.masterKey].some((name) => existsSync(join(dataDir, name)));
  if (isUsed) places.push(["scenepress's data folder", () => dataDir]);
  const folder = realpathSync(path);
  for (const [name, find] of places) {
    const place = realOf(find);
    if (place === undefined) continue;
    const below = relative(folder, place);
    if (below === '..' || below.startsWith(`..${sep}`)) continue;
    const verb = below === '' ? 'is' : 'contains';
    return `Scenes can't read ${path}, which ${verb} ${name}, unless it is named with --folder.`;
  }
  return null;
}

/** Undefined for a folder that doesn't exist, and a user without home. */
function realOf(find: () => string): string | undefined {
  try {
    return realpathSync(find());
  } catch {
    return undefined;
  }
}
