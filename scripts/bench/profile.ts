import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { QUALITIES } from '../../lib/index.ts';
import { frameSizeOf } from '../../lib/model/qualities.ts';
import { benchScenes } from './bench-scenes.ts';
import { qualityOf } from './manim-command.ts';
import { runPython } from './python.ts';

interface Share {
  function: string;
  place: string;
  /** Of the samples, 0 to 1. */
  share: number;
}

interface Profile {
  error?: string;
  frames?: number;
  wallMs: number;
  cpuMs: number;
  /** Of the CPU time, that of the thread that runs the scene: with any number of processors, no render is faster. */
  sceneThreadMs: number;
  /** Of the CPU time, that of the threads that draw recorded frames. */
  drawingThreadsMs: number;
  workMs?: Record<string, number>;
  own: Share[];
  total: Share[];
}

/**
 * Renders a scene like a job, without a sandbox, and prints what its time was spent on and the functions that took most
 * of it. Only samples are taken, which takes some percent of the time; profilers of calls overstate Python.
 */
export async function bench(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { quality: { type: 'string', default: 'medium' } },
  });
  const scene = await sceneOf(positionals);
  const quality = qualityOf(values.quality);
  const { widthPx, heightPx } = frameSizeOf(quality, '16:9');
  const numbers = [widthPx, heightPx, QUALITIES[quality].fps].map(String);
  const profile = (await runPython('sample.py', [scene.file, scene.name, ...numbers])) as Profile;
  print(profile);
}

/** `SCENE` of the benchmarks, or `FILE.py CLASS`. */
async function sceneOf([first, second]: string[]): Promise<{ file: string; name: string }> {
  const scenes = await benchScenes();
  const known = scenes.find(({ name }) => name === first);
  if (known && second === undefined) return known;
  if (first !== undefined && second !== undefined && existsSync(first))
    return { file: resolve(first), name: second };
  throw new Error(
    `Use: npm run bench -- profile SCENE, or FILE.py CLASS. Scenes: ${scenes.map(({ name }) => name).join(', ')}`,
  );
}

function print(profile: Profile): void {
  const {
    error,
    frames = 0,
    wallMs,
    cpuMs,
    sceneThreadMs,
    drawingThreadsMs,
    workMs = {},
    own,
    total,
  } = profile;
  if (error !== undefined) console.log(`The scene failed: ${error}\n`);
  console.log(`${frames} frames in ${seconds(wallMs)} s, ${seconds(cpuMs)} s of CPU time\n`);
  const othersMs = cpuMs - sceneThreadMs - drawingThreadsMs;
  console.log(
    `  ${seconds(sceneThreadMs)} s in the thread that runs the scene, the bound with many processors`,
  );
  console.log(`  ${seconds(drawingThreadsMs)} s in threads that draw, any number of frames at a time`);
  console.log(`  ${seconds(othersMs)} s in the encoder, which is also threaded, and in TeX\n`);
  const whole = Object.values(workMs).reduce((sum, ms) => sum + ms, 0);
  for (const [work, ms] of Object.entries(workMs))
    console.log(`  ${work.padEnd(8)}${seconds(ms).padStart(8)} s${percent(ms / whole).padStart(6)}`);
  printShares('Functions by the time that they ran themselves', own);
  printShares('Functions by the time until they returned', total);
}

function printShares(title: string, shares: Share[]): void {
  console.log(`\n${title}:`);
  for (const { share, function: name, place } of shares)
    console.log(`  ${percent(share).padStart(4)}  ${name}  ${place}`);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
