import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readText, SKILL_FILES, SKILL_FOLDER } from '../packed/texts.ts';
import { UserError } from '../support/user-error.ts';

/** The name of the skill, and of its folder. */
const NAME = basename(SKILL_FOLDER);
/** Also of earlier versions: a copy has no other files. */
const OWN_FILES = /^(?:SKILL\.md|references|references\/[^/]+\.md)$/;

/**
 * Copies the skill into folders of skills, which are made if they are missing. An earlier copy is replaced as a whole. Before
 * anything is written, all places are checked. Returns where the copies are: one for folders that are the same.
 */
export async function installSkill(skillFolders: string[]): Promise<string[]> {
  const places = new Set<string>();
  for (const folder of skillFolders) {
    const place = await placeIn(folder);
    await refuseOthers(place);
    places.add(place);
  }
  for (const place of places) await copyTo(place);
  return [...places];
}

/** The path of the copy, behind links: several agents may share a folder by them. */
async function placeIn(folder: string): Promise<string> {
  const place = join(await realpath(folder).catch(() => resolve(folder)), NAME);
  return await realpath(place).catch(() => place);
}

/** Error: something is there that isn't a copy of the skill. */
async function refuseOthers(place: string): Promise<void> {
  if (!(await exists(place))) return;
  const other = await otherThanSkill(place);
  if (other === undefined) return;
  throw new UserError(
    `${place} is not a copy of this skill: ${other}. Nothing was changed. Move it away, or name another folder with --dir.`,
    { exitCode: 2 },
  );
}

/** Why a path isn't a copy of the skill; undefined if it is one. */
async function otherThanSkill(place: string): Promise<string | undefined> {
  if (!(await lstat(place)).isDirectory()) return 'it is no folder';
  const names = await readdir(place, { recursive: true });
  const others = names.filter((name) => !OWN_FILES.test(name)).sort();
  if (others.length > 0) return `it contains ${others[0]}`;
  const text = await readFile(join(place, 'SKILL.md'), 'utf8').catch(() => '');
  return new RegExp(`^---\\nname: ${NAME}\\n`).test(text) ? undefined : 'its SKILL.md has another name';
}

/** Writes a copy beside the place, then exchanges them by renaming. */
async function copyTo(place: string): Promise<void> {
  try {
    await mkdir(dirname(place), { recursive: true });
    const work = await mkdtemp(join(dirname(place), `.${NAME}-`));
    try {
      const [made, earlier] = [join(work, 'new'), join(work, 'earlier')];
      for (const file of SKILL_FILES) {
        await mkdir(dirname(join(made, file)), { recursive: true });
        await writeFile(join(made, file), await readText(join(SKILL_FOLDER, file)));
      }
      const isThere = await exists(place);
      if (isThere) await rename(place, earlier);
      try {
        await rename(made, place);
      } catch (error) {
        if (isThere) await rename(earlier, place);
        throw error;
      }
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  } catch (cause) {
    throw unwritable(place, cause);
  }
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

function unwritable(place: string, cause: unknown): UserError {
  return new UserError(
    `${place} can't be written: ${(cause as Error).message}. Name another folder with --dir.`,
    {
      cause,
    },
  );
}
