/** Which test files run, and in which processes. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A process that runs one file, or several files of a folder one after another. */
export interface Program {
  name: string;
  files: string[];
  /** It prints a subtest for each file. */
  isGroup: boolean;
  command: string[];
  /** Expected seconds. */
  usualS: number;
  limitS: number;
  /** Of {@link CAPACITY}. */
  weight: number;
}

/** `quick`: what `npm test` runs; `rest`: what only the deep suite runs; `deep`: both; `release`: all. */
export type Suite = 'quick' | 'rest' | 'deep' | 'release';

/** The weights of programs that run at once, on two cores: most of them often wait for the disk or a process. */
export const CAPACITY = 6;
/** Folders whose tests are commands of their own. */
const COMMANDS = ['test/binary/machines', 'test/first-hours'];
/** Folders whose files share processes. */
const SHARED = [
  'test/appliance',
  'test/checks',
  'test/dashboard',
  'test/lib',
  'test/renderer',
  'test/renders/one-service',
];
/** A program gets files until it is expected to take as long. Some share renderers, which start slowly. */
const [SHARED_S, RENDERING_S] = [30, 90];
const RENDERING = /^test\/render(er|s)\//;
/** A program may take {@link LIMIT_S}, and as many times what it usually takes; longer on a first run. */
const [LIMIT_S, LIMIT_FACTOR, UNKNOWN_S] = [60, 4, 600];
/** The first file that needs the single executable builds it if it is not up to date. */
const [USE_EXECUTABLE, BUILD_S] = ['test/binary/', 1200];

/** A file for tap or for pytest. */
const TEST_FILE = /\.test\.ts$|(^|\/)test_\w+\.py$/;
/** What only the deep suite runs, and what only runs before a release. */
const [DEEP, RELEASE] = [/\.deep\.test\.ts$/, /\.release\.test\.ts$/];
/** In files that both suites run, the quick one with a sample of their cases. */
const SAMPLES = { ts: /fixtures\/depth\.ts';$/m, py: /^@pytest\.mark\.(deep|sampled)/m };
/** Run several files, or those of pytest. */
const GROUP = join(import.meta.dirname, 'group.ts');
const PYTEST = ['.venv/bin/python', join(import.meta.dirname, 'pytest_tap.py')];

/** The files below the paths, or all, that belong to the suite. A file that is named belongs to each suite. */
export function testFiles(paths: string[], suite: Suite): string[] {
  const below = paths.length > 0 ? paths.map(testPath) : ['test'];
  const found = below.flatMap((path) => (statSync(path).isFile() ? [path] : filesBelow(path, suite)));
  return [...new Set(found)];
}

function filesBelow(folder: string, suite: Suite): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => TEST_FILE.test(path) && !path.includes('/node_modules/'))
    .filter((path) => isOf(suite, path))
    .filter((path) => COMMANDS.every((command) => !path.startsWith(command) || folder.startsWith(command)))
    .sort();
}

function isOf(suite: Suite, path: string): boolean {
  if (suite === 'release') return true;
  if (RELEASE.test(path)) return false;
  if (DEEP.test(path)) return suite !== 'quick';
  return suite !== 'rest' || SAMPLES[path.endsWith('.py') ? 'py' : 'ts'].test(readFileSync(path, 'utf8'));
}

/** The path of tests; of a folder or a file of the sources, that of its tests. */
function testPath(path: string): string {
  const relative = path.replace(/^\.\//, '').replace(/\/$/, '');
  const ofSource = relative
    .replace(/(\.test)?\.ts$/, '.test.ts')
    .replace(
      /^renderer\/scene_renderer(\/\w+)?(?:\/(\w+\.py))?$/,
      (_, folder, name) => `renderer${folder ?? ''}${name ? `/test_${name}` : ''}`,
    );
  const candidates = /^test(\/|$)/.test(relative) ? [relative] : [join('test', ofSource), relative];
  const found = candidates.find((candidate) => statSync(candidate, { throwIfNoEntry: false }));
  if (!found) throw new Error(`There are no tests in ${candidates[0]}.`);
  return found;
}

/** The part of the files that one of several machines runs; the parts take about the same time. */
export function shardOf(
  files: string[],
  usual: Map<string, number>,
  [index, count]: [number, number],
): string[] {
  const shards = Array.from({ length: count }, () => ({ files: [] as string[], s: 0 }));
  for (const path of longestFirst(files, usual)) {
    const shard = shards.reduce((least, other) => (other.s < least.s ? other : least));
    shard.files.push(path);
    shard.s += usualOf(path, usual);
  }
  return shards[index - 1]?.files ?? [];
}

/** The programs for the files, the longest first, and last those that run alone. */
export function programsFor(files: string[], usual: Map<string, number>): Program[] {
  const programs: Program[] = [];
  const shared = new Map<string, string[]>();
  for (const path of files) {
    const folder = SHARED.find((folder) => path.startsWith(`${folder}/`));
    if (folder) shared.set(folder, [...(shared.get(folder) ?? []), path]);
    else programs.push(program(path, [path], usual));
  }
  for (const [folder, paths] of shared) {
    const chunks = chunksOf(paths, usual);
    for (const [index, chunk] of chunks.entries()) {
      const [only] = chunk;
      const name = chunk.length === 1 && only ? only : `${folder} ${index + 1}/${chunks.length}`;
      programs.push(program(name, chunk, usual));
    }
  }
  return programs.sort(
    (a, b) => Number(a.weight === CAPACITY) - Number(b.weight === CAPACITY) || b.usualS - a.usualS,
  );
}

function program(name: string, files: string[], usual: Map<string, number>): Program {
  const usualS = files.reduce((sum, path) => sum + usualOf(path, usual), 0);
  const isKnown = files.every((path) => usual.has(path));
  const buildS = name.startsWith(USE_EXECUTABLE) ? BUILD_S : 0;
  const limitS = buildS + (isKnown ? LIMIT_S + LIMIT_FACTOR * usualS : UNKNOWN_S);
  const isPython = files.every((path) => path.endsWith('.py'));
  const isGroup = isPython || files.length > 1;
  const command = isPython
    ? [...PYTEST, ...files]
    : [process.execPath, ...(isGroup ? [GROUP] : []), ...files];
  return { name, files, isGroup, command, usualS, limitS, weight: Math.max(...files.map(weightOf)) };
}

/** Renders use both cores, and what attacks may use is limited by the time that they take. */
function weightOf(path: string): number {
  if (path.startsWith(USE_EXECUTABLE)) return CAPACITY;
  return path.startsWith('test/renders/') ? CAPACITY / 2 : CAPACITY / 3;
}

/** Files in their order, so that those of a folder stay together. */
function chunksOf(files: string[], usual: Map<string, number>): string[][] {
  const chunks: string[][] = [];
  let s = Number.POSITIVE_INFINITY;
  for (const path of files) {
    const more = usualOf(path, usual);
    if (s + more > (RENDERING.test(path) ? RENDERING_S : SHARED_S)) {
      chunks.push([]);
      s = 0;
    }
    chunks.at(-1)?.push(path);
    s += more;
  }
  return chunks;
}

function longestFirst(files: string[], usual: Map<string, number>): string[] {
  return [...files].sort((a, b) => usualOf(b, usual) - usualOf(a, usual));
}

function usualOf(path: string, usual: Map<string, number>): number {
  return usual.get(path) ?? 1;
}
