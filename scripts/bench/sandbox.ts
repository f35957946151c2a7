import { chownSync, mkdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../lib/clock.ts';
import { filesOf } from '../../lib/render/end/collect.ts';
import { JobChannel } from '../../lib/render/run/job-channel.ts';
import { DEFAULT_LIMITS, jobLimits } from '../../lib/render/run/limits.ts';
import type { RendererJob } from '../../lib/render/run/messages.ts';
import {
  findLauncher,
  type Launcher,
  seenInWork,
  uidOf,
  zygoteCommandLine,
} from '../../lib/render/start/launcher.ts';
import { systemProcesses } from '../../lib/render/start/processes.ts';
import { Zygote } from '../../lib/render/start/zygote.ts';

const LAYERS = ['namespaces', 'landlock', 'seccomp'];
const TARGET_MS = 25;
/** A short scene, so that the overhead of the sandbox is visible; it starts another program. */
const CODE = `from manim import *
import subprocess
class Main(Scene):
    def construct(self):
        subprocess.run(["true"], check=True)
        self.add(Square())
`;
const JOB: RendererJob = {
  kind: 'render',
  code: CODE,
  isBytes: false,
  className: 'Main',
  widthPx: 128,
  heightPx: 72,
  fps: 1,
  previewIntervalMs: 0,
  local: null,
  isTexHeld: false,
  limits: jobLimits(DEFAULT_LIMITS),
};

interface Candidate {
  name: string;
  folder: string;
  zygote: Zygote;
  timesMs: number[];
}

/** Runs the same short job alternately without layers, with each layer and with all; prints medians in ms. */
export async function bench(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { runs: { type: 'string', default: '40' } } });
  const launcher = await findLauncher({});
  const folder = await mkdtemp(join(tmpdir(), 'scenepress-bench-'));
  await chmod(folder, 0o711);
  const candidates = await Promise.all([
    start(folder, 'none', { ...launcher, isolation: 'none' }, []),
    start(folder, 'bubblewrap', launcher, []),
    ...LAYERS.map((layer) => start(folder, layer, { ...launcher, isolation: 'none' }, [layer])),
    start(folder, 'all', launcher, LAYERS),
  ]);
  try {
    for (let turn = -2; turn < Number(values.runs); turn += 1) {
      for (const candidate of candidates) {
        const timeMs = await runJob(launcher, candidate, turn);
        if (turn >= 0) candidate.timesMs.push(timeMs); // The first turns are warm-up.
      }
    }
  } finally {
    await Promise.all(candidates.map(({ zygote }) => zygote.stop()));
    await rm(folder, { recursive: true, force: true });
  }
  const base = median(candidates[0]?.timesMs ?? []);
  for (const { name, timesMs } of candidates) {
    const cost = median(timesMs) - base;
    console.log(
      `${name.padEnd(12)}${median(timesMs).toFixed(1).padStart(7)} ms${cost.toFixed(1).padStart(7)} ms more`,
    );
  }
  const cost = median(candidates.at(-1)?.timesMs ?? []) - base;
  console.log(`\nOverhead of all layers per job: ${cost.toFixed(1)} ms; limit: ${TARGET_MS} ms.`);
  if (cost > TARGET_MS) process.exitCode = 1;
}

async function start(parent: string, name: string, launcher: Launcher, layers: string[]): Promise<Candidate> {
  const folder = join(parent, name);
  makeFolder(launcher, folder);
  const line = zygoteCommandLine(launcher, {
    index: 0,
    workFolder: folder,
    role: 'landscape',
    cgroup: false,
  });
  for (const layer of LAYERS) if (!layers.includes(layer)) line.args.push('--without', layer);
  const [zygote, ready] = await Zygote.start(line, {
    onLog: console.error,
    silenceTimeoutMs: 60_000,
    clock: systemClock,
    processes: systemProcesses,
  });
  const missing = layers.filter((layer) => !ready.layers.includes(layer));
  if (missing.length > 0) throw new Error(`${missing.join(', ')} can't be used on this machine`);
  return { name, folder, zygote, timesMs: [] };
}

async function runJob(launcher: Launcher, candidate: Candidate, turn: number): Promise<number> {
  const folder = join(candidate.folder, `${turn}`);
  makeFolder(launcher, folder);
  const startedAt = performance.now();
  let failure: string | undefined = 'no report';
  const uid = uidOf(launcher, 0);
  const channel = await JobChannel.open({
    folder,
    uid,
    job: JOB,
    clock: systemClock,
    processes: systemProcesses,
    onReport: (report) => {
      if (report.type === 'done') failure = undefined;
      else if (report.type === 'failed') failure = report.error;
    },
  });
  const { memoryBytes, diskBytes, files, fileSizeBytes } = DEFAULT_LIMITS;
  const seen = seenInWork(launcher, candidate.folder, folder);
  const socket = JobChannel.pathIn(seen);
  await candidate.zygote.run({
    type: 'fork',
    ...{ job: `${turn}`, folder: seen, socket, stream: null, memoryBytes, diskBytes, files, fileSizeBytes },
    background: false,
    ...filesOf(JOB, DEFAULT_LIMITS, { isStreamed: false }),
  });
  await channel.drained();
  channel.close();
  if (failure !== undefined) throw new Error(`${candidate.name}: ${failure}`);
  return performance.now() - startedAt;
}

function makeFolder(launcher: Launcher, folder: string): void {
  mkdirSync(folder, { mode: 0o700 });
  const uid = uidOf(launcher, 0);
  if (uid !== undefined) chownSync(folder, uid, uid);
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
