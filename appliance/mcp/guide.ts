import { parse } from 'node:path';
import { readText, SKILL_FILES, SKILL_FOLDER } from '../packed/texts.ts';

/** The files of the skill, by topic: `scene`, then its references by name. */
const FILES = new Map<string, string>(
  SKILL_FILES.map((file) => [file === 'SKILL.md' ? 'scene' : parse(file).name, file]),
);

/** The topics of the guide. */
export const GUIDE_TOPICS: readonly string[] = [...FILES.keys()];

/** A reference text, as Markdown, without the front matter, which is for programs that load skills. */
export async function guideOf(topic: string): Promise<string> {
  const file = FILES.get(topic);
  if (file === undefined) throw new Error(`There is no topic ${topic}.`);
  return (await readText(`${SKILL_FOLDER}/${file}`)).replace(/^---\n.*?\n---\n+/s, '');
}
