import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Quality, RenderUsage } from '../../lib/index.ts';
import { type BenchScene, benchScenes } from './bench-scenes.ts';
import { type ManimRender, qualityOf, renderWithManim, type Taken } from './manim-command.ts';
import { geometricMean, median } from './numbers.ts';
import { runPython } from './python.ts';
import { Originals, type ServiceRender, WarmService } from './warm-service.ts';

const ENCODERS = 4;

/** A line of the table. */
interface Result {
  scene: string;
  quality: Quality;
  frames: number;
  manim: Taken;
  /** The same with several encoders. */
  encoders: Taken | undefined;
  ours: Taken;
  /** What our last render was spent on. */
  workMs: RenderUsage['workMs'];
  manimBytes: number;
  bytes: number;
  manimSsim: number | undefined;
  ssim: number | undefined;
}

interface Videos {
  theirs: ManimRender;
  ours: ServiceRender;
}

/**
 * Renders scenes with `manim render` and on a warm service, from POST to `completed` over HTTP. Prints times, CPU times,
 * memory, sizes and SSIM, and their geometric means.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      quality: { type: 'string', multiple: true, default: ['medium'] },
      runs: { type: 'string', default: '1' },
      busy: { type: 'boolean', default: false },
      encoders: { type: 'boolean', default: false },
      ssim: { type: 'boolean', default: false },
      markdown: { type: 'boolean', default: false },
      json: { type: 'string' },
      list: { type: 'boolean', default: false },
    },
  });
  const all = await benchScenes();
  if (values.list) return void console.log(all.map(({ set, name }) => `${set.padEnd(12)}${name}`).join('\n'));
  const scenes = chosen(all, values.only);
  const qualities = values.quality.map(qualityOf);
  const runs = Number(values.runs);
  const table = new Table(values.markdown);
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-bench-'));
  const originals = values.ssim ? await Originals.start() : undefined;
  const others = values.busy ? startBusyProcesses() : [];
  let failures = 0;
  try {
    console.log(introduction(runs, others.length));
    table.begin();
    for (const quality of qualities) {
      const service = await startService();
      try {
        for (const scene of scenes) {
          const measure = { quality, service, runs, originals, folder, encoders: values.encoders };
          await measured(scene, measure).then(
            (result) => table.add(result),
            (error: Error) => {
              failures += 1;
              console.log(`${scene.name}, ${quality}: ${error.message}`);
            },
          );
        }
      } finally {
        await service.stop();
      }
    }
    table.end();
    if (values.json !== undefined) await writeFile(values.json, JSON.stringify(table.results, null, 2));
  } finally {
    for (const process of others) process.kill();
    await originals?.stop();
    await rm(folder, { recursive: true, force: true });
  }
  if (failures > 0) process.exitCode = 1;
}

/** Those with a name, or in a set. */
function chosen(all: BenchScene[], only: string[] | undefined): BenchScene[] {
  if (!only) return all;
  for (const name of only)
    if (!all.some((scene) => scene.name === name || scene.set === name))
      throw new Error(`There is no scene ${name}. List them with --list.`);
  return all.filter(({ name, set }) => only.includes(name) || only.includes(set));
}

/** A first render warms its libraries. */
async function startService(): Promise<WarmService> {
  const service = await WarmService.start();
  const code =
    'from manim import *\n\nclass Warm(Scene):\n    def construct(self):\n        self.play(Create(Circle()))\n';
  await service.render({ name: 'Warm', set: '', file: '', code }, 'low');
  return service;
}

/** Processes of other users of the machine that take all processors. */
function startBusyProcesses(): ChildProcess[] {
  const loop = 'for (;;);';
  return Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', loop], { stdio: 'ignore' }),
  );
}

function introduction(runs: number, busy: number): string {
  const times = runs === 1 ? 'One run' : `Medians of ${runs} runs`;
  const beside = busy === 0 ? '' : `, beside ${busy} other processes that take all processors`;
  return `${times}, in seconds${beside}. ×: how many times as fast as manim, or as large.\n`;
}

interface Measure {
  quality: Quality;
  service: WarmService;
  runs: number;
  originals: Originals | undefined;
  folder: string;
  encoders: boolean;
}

async function measured(scene: BenchScene, measure: Measure): Promise<Result> {
  const { quality, service, originals, folder } = measure;
  const ours: ServiceRender[] = [];
  const theirs: ManimRender[] = [];
  const encoders: ManimRender[] = [];
  for (let run = 0; run < measure.runs; run++) {
    theirs.push(await renderWithManim(folder, scene, { quality }));
    ours.push(await service.render(scene, quality));
    if (measure.encoders)
      encoders.push(await renderWithManim(folder, scene, { quality, encoders: ENCODERS }));
  }
  const last = { theirs: theirs.at(-1), ours: ours.at(-1) };
  if (!last.theirs || !last.ours) throw new Error('there was no run');
  const compared = await comparedVideos(scene, last as Videos, { quality, originals });
  const bytes = {
    manimBytes: (await stat(last.theirs.video)).size,
    bytes: (await stat(last.ours.video)).size,
  };
  for (const { video } of [...theirs, ...ours, ...encoders]) await rm(video);
  return {
    scene: scene.name,
    quality,
    manim: medianOf(theirs),
    encoders: measure.encoders ? medianOf(encoders) : undefined,
    workMs: last.ours.usage.workMs,
    ours: medianOf(ours),
    ...bytes,
    ...compared,
  };
}

interface Compared {
  frames: number;
  ssim: number | null;
}

/** The number of frames, which must be equal, and the SSIM of both with the frames that were drawn. */
async function comparedVideos(
  scene: BenchScene,
  { theirs, ours }: Videos,
  { quality, originals }: Pick<Measure, 'quality' | 'originals'>,
): Promise<Pick<Result, 'frames' | 'manimSsim' | 'ssim'>> {
  const compare = async (...frames: string[]) =>
    (await runPython('quality.py', [...frames, theirs.video, ours.video])) as [Compared, Compared];
  const [manim, service] = originals
    ? await originals.with(scene, quality, (frames) => compare(frames))
    : await compare('-');
  if (manim.frames !== service.frames)
    throw new Error(`manim has ${manim.frames} frames, the service ${service.frames}`);
  return { frames: service.frames, manimSsim: manim.ssim ?? undefined, ssim: service.ssim ?? undefined };
}

function medianOf(taken: Taken[]): Taken {
  const of = (name: keyof Taken) => median(taken.map((one) => one[name]));
  return { wallMs: of('wallMs'), cpuMs: of('cpuMs'), memoryBytes: of('memoryBytes') };
}

const COLUMNS: [heading: string, cell: (result: Result) => string][] = [
  ['quality', ({ quality }) => quality],
  ['frames', ({ frames }) => String(frames)],
  ['manim', ({ manim }) => seconds(manim.wallMs)],
  ['CPU', ({ manim }) => seconds(manim.cpuMs)],
  [`${ENCODERS} enc.`, ({ encoders }) => (encoders ? seconds(encoders.wallMs) : '')],
  ['ours', ({ ours }) => seconds(ours.wallMs)],
  ['CPU', ({ ours }) => seconds(ours.cpuMs)],
  ['×', (result) => times(RATIOS.wall(result))],
  ['CPU ×', (result) => times(RATIOS.cpu(result))],
  ['size ×', (result) => times(RATIOS.size(result))],
  ['SSIM', ({ manimSsim }) => (manimSsim === undefined ? '' : manimSsim.toFixed(5))],
  ['ours', ({ ssim }) => (ssim === undefined ? '' : ssim.toFixed(5))],
  ['MB', ({ manim }) => (manim.memoryBytes / 1e6).toFixed(0)],
  ['ours', ({ ours }) => (ours.memoryBytes / 1e6).toFixed(0)],
];

const RATIOS = {
  wall: ({ manim, ours }: Result) => manim.wallMs / ours.wallMs,
  cpu: ({ manim, ours }: Result) => manim.cpuMs / ours.cpuMs,
  encoders: ({ encoders, ours }: Result) => (encoders ? encoders.wallMs / ours.wallMs : Number.NaN),
  size: ({ bytes, manimBytes }: Result) => bytes / manimBytes,
  memory: ({ manim, ours }: Result) => ours.memoryBytes / manim.memoryBytes,
};

const ABOUT: Record<keyof typeof RATIOS, string> = {
  wall: 'as fast as manim',
  cpu: 'less CPU time',
  encoders: `as fast as manim with --max-inflight-encoders ${ENCODERS}`,
  size: 'as large',
  memory: 'as much memory',
};

/** Prints results as they come. */
class Table {
  readonly results: Result[] = [];
  readonly #isMarkdown: boolean;

  constructor(isMarkdown: boolean) {
    this.#isMarkdown = isMarkdown;
  }

  begin(): void {
    this.#print(['scene', ...COLUMNS.map(([heading]) => heading)]);
    if (this.#isMarkdown) console.log(`|${'---|'.repeat(COLUMNS.length + 1)}`);
  }

  add(result: Result): void {
    this.results.push(result);
    this.#print([result.scene, ...COLUMNS.map(([, cell]) => cell(result))]);
  }

  /** The geometric means of each quality. */
  end(): void {
    for (const quality of new Set(this.results.map((result) => result.quality))) {
      const results = this.results.filter((result) => result.quality === quality);
      console.log(`\n${results.length} scenes, ${quality}; geometric means, and the range:`);
      for (const name of Object.keys(RATIOS) as (keyof typeof RATIOS)[]) {
        const values = results.map(RATIOS[name]).filter((value) => Number.isFinite(value) && value > 0);
        if (values.length === 0) continue;
        const range = `${times(Math.min(...values))} to ${times(Math.max(...values))}`;
        console.log(`  ${times(geometricMean(values)).padStart(6)} × ${ABOUT[name]} (${range})`);
      }
    }
  }

  #print(cells: string[]): void {
    const [name = '', ...numbers] = cells;
    const padded = name.padEnd(18) + numbers.map((cell) => cell.padStart(9)).join('');
    console.log(this.#isMarkdown ? `| ${cells.join(' | ')} |` : padded);
  }
}

function times(ratio: number): string {
  return ratio.toFixed(2);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
