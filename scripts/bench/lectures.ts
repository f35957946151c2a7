import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'lectures');

/** What somebody changes before rendering again, in the order of the tables. */
export const EDITS = ['last', 'text', 'early', 'colour', 'nothing'] as const;
/** One of {@link EDITS}. */
export type Edit = (typeof EDITS)[number];

/** A long scene with marked edits. */
export interface Lecture {
  /** The file without its extension. */
  name: string;
  className: string;
  is3d: boolean;
  code: string;
}

/** All lectures in `lectures/`, each with every edit. */
export async function lectures(): Promise<Lecture[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.py')).sort();
  return Promise.all(
    names.map(async (fileName) => {
      const code = await readFile(join(FOLDER, fileName), 'utf8');
      const [, className, base] = code.match(/^class (\w+)\((\w*Scene)\)/m) ?? [];
      if (className === undefined) throw new Error(`${fileName} has no scene.`);
      const lecture = {
        name: fileName.slice(0, -'.py'.length),
        className,
        is3d: base === 'ThreeDScene',
        code,
      };
      for (const edit of EDITS) edited(lecture, edit);
      return lecture;
    }),
  );
}

/**
 * The code of a lecture after an edit. `# last, instead: CODE` replaces the line above it by `CODE`, and
 * `# early, also: CODE` becomes `CODE`.
 */
export function edited({ name, code }: Pick<Lecture, 'name' | 'code'>, edit: Edit): string {
  if (edit === 'nothing') return code;
  const replaced = code
    .replace(new RegExp(`^( *).*\n *# ${edit}, instead: (.*)$`, 'm'), '$1$2')
    .replace(new RegExp(`^( *)# ${edit}, also: (.*)$`, 'm'), '$1$2');
  if (replaced === code) throw new Error(`${name} has no edit “${edit}”.`);
  return replaced;
}
