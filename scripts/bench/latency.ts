import { parseArgs } from 'node:util';
import { qualityOf } from './manim-command.ts';
import { type Marks, WarmService } from './warm-service.ts';

/** The steps of a job, each with the mark that it ends with; `of`: what they begin with. */
const PARTS = [
  {
    name: 'start: POST to the first line of the scene',
    of: 'posted',
    steps: [
      ['POST to 202', 'accepted'],
      ['claimed', 'claimed'],
      ['process in its sandbox', 'loading'],
      ['first line', 'first'],
    ],
  },
  {
    name: 'end: last line of the scene to completed',
    of: 'last',
    steps: [
      ['scene ended', 'finishing'],
      ['encoded and written', 'rendered'],
      ['stored, completed', 'completed'],
    ],
  },
] as const;

const WARM_UP_RUNS = 2;
const SOME = 0.9;

/**
 * Renders the same scenes many times, one job at a time, on a warm service with an empty queue. Prints how long a job
 * takes until its scene begins, and from the scene's end until it is completed, and the steps of both.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      quality: { type: 'string', multiple: true, default: ['low', 'medium', 'high'] },
      seconds: { type: 'string', multiple: true, default: ['5', '30'] },
      runs: { type: 'string', default: '20' },
    },
  });
  const qualities = values.quality.map(qualityOf);
  const runs = Number(values.runs);
  console.log(`Medians and 90th percentiles of ${runs} runs, in milliseconds.\n`);
  const service = await WarmService.start();
  try {
    for (const quality of qualities) {
      for (const seconds of values.seconds) {
        const all: Marks[] = [];
        const scene = { name: 'Latency', set: '', file: '', code: codeOf(Number(seconds)) };
        for (let run = 0; run < WARM_UP_RUNS + runs; run += 1) {
          const marks = await service.timed(scene, quality);
          if (run >= WARM_UP_RUNS) all.push(marks);
        }
        console.log(`${quality}, ${seconds} s`);
        for (const part of PARTS) print(part, all);
        console.log();
      }
    }
  } finally {
    await service.stop();
  }
}

/** A scene that prints the time at its first and its last line. */
function codeOf(seconds: number): string {
  return `import time
print("first", time.time() * 1000)
from manim import *

class Latency(Scene):
    def construct(self):
        square = Square(fill_opacity=0.5).shift(LEFT)
        self.play(square.animate(run_time=${seconds}).shift(2 * RIGHT).rotate(1).set_fill(BLUE))
        print("last", time.time() * 1000)
`;
}

function print({ name, of, steps }: (typeof PARTS)[number], all: Marks[]): void {
  const end = steps.at(-1)?.[1];
  if (end === undefined) return;
  line(
    name,
    all.map((marks) => marks[end] - marks[of]),
  );
  let before: keyof Marks = of;
  for (const [step, mark] of steps) {
    const from = before;
    line(
      `  ${step}`,
      all.map((marks) => marks[mark] - marks[from]),
    );
    before = mark;
  }
}

function line(name: string, values: number[]): void {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1).padStart(8);
  console.log(`  ${name.padEnd(44)}${at(1 / 2)}${at(SOME)}`);
}
