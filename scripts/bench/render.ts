import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { Appliance } from '../../appliance/appliance.ts';
import { loadConfig } from '../../appliance/config/config.ts';
import { createFirstAccount } from '../../appliance/first-account.ts';
import { openLog } from '../../appliance/support/log.ts';

const run = promisify(execFile);
const SCENES_FILE = join(import.meta.dirname, 'scenes.py');
const DEFAULT_PYTHON = join(import.meta.dirname, '../../.venv/bin/python');
const QUALITIES = { low: '-ql', medium: '-qm' } as const;
const POLL_MS = 20;

type Quality = keyof typeof QUALITIES;

/**
 * Renders the same scenes alternately on a warm service, from POST to `completed` over HTTP, and with `manim render`
 * without a cache. Prints medians in seconds and the speedup of the service.
 */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { runs: { type: 'string', default: '3' }, scene: { type: 'string', multiple: true } },
  });
  const runs = Number(values.runs);
  const code = await readFile(SCENES_FILE, 'utf8');
  const all = [...code.matchAll(/^class (\w+)/gm)].map(([, name]) => `${name}`);
  const scenes = all.filter((name) => values.scene?.includes(name) ?? true);

  const folder = await mkdtemp(join(tmpdir(), 'scenepress-bench-'));
  const service = await openService(folder);
  try {
    await service.render(code, scenes[0] ?? '', 'low');
    console.log(`Medians of ${runs} runs, in seconds.\n`);
    console.log(row('scene', 'quality', 'manim', 'service', 'ratio'));
    const ratios: number[] = [];
    for (const quality of Object.keys(QUALITIES) as Quality[]) {
      for (const scene of scenes) {
        const [ours, theirs]: [number[], number[]] = [[], []];
        for (let turn = 0; turn < runs; turn += 1) {
          ours.push(await timed(() => service.render(code, scene, quality)));
          theirs.push(await timed(() => renderWithManim(folder, scene, quality)));
        }
        const ratio = median(theirs) / median(ours);
        ratios.push(ratio);
        console.log(row(scene, quality, seconds(theirs), seconds(ours), ratio.toFixed(2)));
      }
    }
    const [slowest, fastest] = [Math.min(...ratios), Math.max(...ratios)];
    console.log(`\nThe service is ${median(ratios).toFixed(2)} times as fast as the command in the median,`);
    console.log(`${slowest.toFixed(2)} to ${fastest.toFixed(2)} times over all scenes.`);
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A listening appliance with a client. */
async function openService(folder: string) {
  const flags = { port: 0, dataDir: join(folder, 'data'), creditsMode: 'unmetered' };
  const appliance = new Appliance(
    loadConfig({ flags, env: process.env }),
    openLog({ logLevel: 'error' }).logger,
  );
  const { hapi, installation } = await appliance.start();
  const endpoint = `${hapi.info.uri}/api/v2/render`;
  const headers = { authorization: `Bearer ${await createFirstAccount(installation)}` };

  async function render(code: string, className: string, quality: Quality): Promise<void> {
    const body = JSON.stringify({ code, className, quality });
    const { jobId } = await json(fetch(endpoint, { method: 'POST', headers, body }));
    for (;;) {
      const job = await json(fetch(`${endpoint}/${jobId}`, { headers }));
      if (job['status'] === 'completed') return;
      if (job['status'] === 'failed') throw new Error(`${className}: ${job['error']}`);
      await delay(POLL_MS);
    }
  }
  return { render, stop: () => appliance.stop() };
}

async function json(answer: Promise<Response>): Promise<Record<string, unknown>> {
  const response = await answer;
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** Renders into a new folder, because Manim would reuse the files of an earlier run. */
async function renderWithManim(folder: string, scene: string, quality: Quality): Promise<void> {
  const manim = join(dirname(process.env['SCENEPRESS_PYTHON'] ?? DEFAULT_PYTHON), 'manim');
  const media = await mkdtemp(join(folder, 'manim-'));
  const options = [QUALITIES[quality], '--disable_caching', '--progress_bar', 'none', '--media_dir', media];
  await run(manim, ['render', ...options, SCENES_FILE, scene], { cwd: media });
  await rm(media, { recursive: true });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle) - 1] ?? 0)) / 2;
}

function seconds(timesMs: number[]): string {
  return (median(timesMs) / 1000).toFixed(2);
}

function row(scene: string, quality: string, ...numbers: string[]): string {
  return [scene.padEnd(16), quality.padEnd(8), ...numbers.map((number) => number.padStart(8))].join('');
}
