import { parseArgs } from 'node:util';
import type { Quality } from '../../lib/index.ts';
import { type BenchScene, benchScenes } from './bench-scenes.ts';
import { qualityOf } from './manim-command.ts';
import { WarmService } from './warm-service.ts';

/** Different kinds of scenes: quick and long ones, with and without formulas, two and three dimensions. */
const GROUPS = [
  ['SquareToCircle', 'Title', 'Grid', 'Zoom'],
  ['Tangent', 'BubbleSort', 'QuadraticFormula', 'Dots'],
  ['Parabola', 'ShortestPath', 'Headlines', 'BarCharts'],
  ['Saddle', 'Ripple', 'Field', 'Mosaic'],
];
const WIDTHS = [52, 20, 12, 8] as const;

/** Renders four different scenes one after another, and posted together, on a warm service that knows their formulas. */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      quality: { type: 'string', default: 'medium' },
      runs: { type: 'string', default: '3' },
    },
  });
  const quality = qualityOf(values.quality);
  const runs = Number(values.runs);
  console.log(`Medians of ${runs} runs, in seconds, ${quality}.\n`);
  console.log(row('scenes', 'one after another', 'together', '×'));
  const all = await benchScenes();
  const service = await WarmService.start();
  try {
    for (const names of GROUPS) {
      const scenes = all.filter(({ name }) => names.includes(name));
      if (scenes.length < names.length)
        throw new Error(`One of these scenes is missing: ${names.join(', ')}.`);
      const together = () => Promise.all(scenes.map((scene) => service.render(scene, quality)));
      await together();
      const times: [one: number, all: number][] = [];
      for (let run = 0; run < runs; run += 1)
        times.push([await secondsOf(() => inTurn(service, scenes, quality)), await secondsOf(together)]);
      const [one, atOnce] = [median(times.map(([one]) => one)), median(times.map(([, all]) => all))];
      console.log(row(names.join(', '), one.toFixed(2), atOnce.toFixed(2), (one / atOnce).toFixed(2)));
    }
  } finally {
    await service.stop();
  }
}

async function inTurn(service: WarmService, scenes: BenchScene[], quality: Quality): Promise<void> {
  for (const scene of scenes) await service.render(scene, quality);
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

function row(...cells: string[]): string {
  return cells.map((cell, i) => (i === 0 ? cell.padEnd(WIDTHS[0]) : cell.padStart(WIDTHS[i] ?? 0))).join('');
}
