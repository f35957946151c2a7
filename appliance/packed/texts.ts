import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSea } from 'node:sea';
import { packageRoot } from '../../lib/internal.ts';

/** The folder of the skill for coding agents, in the package. */
export const SKILL_FOLDER = 'appliance/skill/scenepress';

/** The files of the skill, by their paths in it. */
export const SKILL_FILES = [
  'SKILL.md',
  'references/mobjects.md',
  'references/animations.md',
  'references/cameras.md',
  'references/tex.md',
  'references/narration.md',
  'references/mistakes.md',
] as const;

/** Where scripts/binary/build.ts puts texts of the package into the single executable. */
export const PACKED_TEXTS = 'texts';

/** Reads a text of the package, by its path there; in the single executable only those that were packed. */
export async function readText(path: string): Promise<string> {
  const folder = isSea() ? join(import.meta.dirname, PACKED_TEXTS) : packageRoot();
  return await readFile(join(folder, path), 'utf8');
}
