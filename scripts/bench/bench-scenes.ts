import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'scenes');

/** A scene of the benchmarks. */
export interface BenchScene {
  /** Its class, unique among all files. */
  name: string;
  /** The file without its extension. */
  set: string;
  file: string;
  code: string;
}

/** All scenes in `scenes/`, in the order of files and lines. */
export async function benchScenes(): Promise<BenchScene[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.py')).sort();
  const found = await Promise.all(
    names.map(async (fileName) => {
      const file = join(FOLDER, fileName);
      const code = await readFile(file, 'utf8');
      return [...code.matchAll(/^class (\w+)\(\w*Scene\)/gm)].map(([, name = '']) => ({
        name,
        set: fileName.slice(0, -'.py'.length),
        file,
        code,
      }));
    }),
  );
  return found.flat();
}
