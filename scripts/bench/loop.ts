import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Finding, LocalRenderer } from '../../lib/index.ts';
import { renderWithManim } from './manim-command.ts';
import { replaced } from './replacement.ts';

const FOLDER = join(import.meta.dirname, 'broken');
const MOST_CHECKS = 8;
const WIDTHS = [20, 32, 6, 8, 10] as const;

interface BrokenScene {
  name: string;
  code: string;
  className: string;
}

type End = 'video' | 'no replacement' | 'does not converge' | 'render failed';

interface Loop {
  end: End;
  /** What was checked, one after another. */
  sources: string[];
  /** Checks, and the render if there was one. */
  calls: number;
  /** The errors in turn. */
  found: Finding[];
  seconds: number;
  /** Of `manim` with the same sources. */
  manimSeconds: number;
}

/**
 * Repairs broken scenes as a program that understands nothing: it checks, writes the replacement that the finding names,
 * checks again, and renders when nothing is found. Prints how each ended, in how many calls and seconds, and how long
 * `manim` takes for the same sources.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      hints: { type: 'boolean', default: false },
      'no-manim': { type: 'boolean', default: false },
      folder: { type: 'string', default: FOLDER },
    },
  });
  const isChosen = ({ name }: BrokenScene) => values.only?.some((part) => name.includes(part)) ?? true;
  const scenes = (await brokenScenes(values.folder)).filter(isChosen);
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-loop-'));
  const renderer = new LocalRenderer({ folder, workers: 1 });
  const loops: Loop[] = [];
  try {
    await renderer.start();
    console.log(row('scene', 'found', 'calls', 's', 'manim s', 'end'));
    for (const scene of scenes) {
      const loop = await repair(renderer, scene);
      if (!values['no-manim']) loop.manimSeconds = await secondsOfManim(folder, scene, loop.sources);
      loops.push(loop);
      printLoop(scene, loop);
      if (values.hints) printLast(loop);
    }
  } finally {
    await renderer.stop();
    await rm(folder, { recursive: true, force: true });
  }
  printSum(loops);
}

async function brokenScenes(folder: string): Promise<BrokenScene[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py')).toSorted();
  return Promise.all(
    names.map(async (file) => {
      const code = await readFile(join(folder, file), 'utf8');
      const [, className = ''] = /^class (\w+)/m.exec(code) ?? [];
      return { name: file.replace('.py', ''), code, className };
    }),
  );
}

async function repair(renderer: LocalRenderer, { code, className }: BrokenScene): Promise<Loop> {
  const loop: Loop = { ...NOTHING, sources: [], found: [] };
  const startedMs = performance.now();
  loop.end = await endOf(renderer, { code, className }, loop);
  loop.seconds = (performance.now() - startedMs) / 1000;
  return loop;
}

const NOTHING = { end: 'no replacement', calls: 0, seconds: 0, manimSeconds: Number.NaN } as const;

async function endOf(
  renderer: LocalRenderer,
  { code, className }: Omit<BrokenScene, 'name'>,
  loop: Loop,
): Promise<End> {
  let current = code;
  while (loop.sources.length < MOST_CHECKS && !loop.sources.includes(current)) {
    loop.sources.push(current);
    loop.calls += 1;
    const { findings } = await renderer.check(current, { className, quality: 'low' });
    const error = findings.find(({ severity }) => severity === 'error');
    if (!error) {
      loop.calls += 1;
      return endOfRender(renderer, { code: current, className });
    }
    loop.found.push(error);
    const next = replaced(current, error);
    if (next === undefined) return 'no replacement';
    current = next;
  }
  return 'does not converge';
}

async function endOfRender(
  renderer: LocalRenderer,
  scene: Omit<BrokenScene, 'name'>,
): Promise<'video' | 'render failed'> {
  const render = await renderer.render({ ...scene, quality: 'low' });
  await renderer.discard(render);
  return render.status === 'completed' ? 'video' : 'render failed';
}

async function secondsOfManim(
  folder: string,
  { name, className }: BrokenScene,
  sources: string[],
): Promise<number> {
  const file = join(folder, `${name.replaceAll('-', '_')}.py`);
  const startedMs = performance.now();
  for (const source of sources) {
    await writeFile(file, source);
    // It fails on what is broken.
    await renderWithManim(folder, { name: className, file }, { quality: 'low' }).catch(() => undefined);
  }
  return (performance.now() - startedMs) / 1000;
}

function printLoop({ name }: BrokenScene, { found, calls, seconds, manimSeconds, end }: Loop): void {
  const kinds = found.map(({ kind }) => kind.replace('scene:', '')).join(', ');
  console.log(row(name, kinds, String(calls), seconds.toFixed(2), manimSeconds.toFixed(1), end));
}

function printLast({ found, end }: Loop): void {
  const last = found.at(-1);
  if (last && end !== 'video')
    console.log(`  line ${last.line}: ${last.message} | ${last.hint ?? 'no hint'}`);
}

function printSum(loops: Loop[]): void {
  const sum = (of: (loop: Loop) => number) => loops.reduce((total, loop) => total + of(loop), 0);
  const times = [
    sum(({ seconds }) => seconds).toFixed(2),
    sum(({ manimSeconds }) => manimSeconds).toFixed(1),
  ];
  const videos = loops.filter(({ end }) => end === 'video').length;
  const share = `${videos}/${loops.length} videos (${((100 * videos) / loops.length).toFixed(0)} %)`;
  console.log(row('all', '', String(sum(({ calls }) => calls)), ...times, share));
}

function row(...cells: string[]): string {
  return cells
    .map((cell, i) =>
      i < 2 ? cell.padEnd(WIDTHS[i] ?? 0) : i < 5 ? cell.padStart(WIDTHS[i] ?? 0) : `  ${cell}`,
    )
    .join('');
}
