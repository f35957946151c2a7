import { readFileSync } from 'node:fs';
import { jobsBelow, type Process } from '../../test/fixtures/processes.ts';

const INTERVAL_MS = 200;
const KIB = 1024;
/** What the renderer calls the processes around a job, and the one that runs its scene or encodes. */
const AROUND = ['watch', 'init'];
const SCENE = 'job';

/**
 * The most memory that the processes of one job at a time and its encoder use together, as `measure.py` counts that of a command: pages
 * that several of them share, such as forks of LaTeX, count once. Those that the scene's process shares with its zygote
 * count in full.
 */
export class JobMemory {
  #peakBytes = 0;
  #lookAtMs = performance.now() + INTERVAL_MS;

  get peakBytes(): number {
    return this.#peakBytes;
  }

  /** To be called often. */
  look(): void {
    if (performance.now() < this.#lookAtMs) return;
    this.#lookAtMs = performance.now() + INTERVAL_MS;
    const held = [...jobsBelow(process.pid), ...jobsBelow(process.pid, 'encoder')].map(bytesOf);
    this.#peakBytes = Math.max(
      this.#peakBytes,
      held.reduce((sum, bytes) => sum + bytes, 0),
    );
  }
}

function bytesOf({ pid, name }: Process): number {
  if (AROUND.includes(name)) return 0;
  try {
    return name === SCENE
      ? sumOf(/^(?:RssAnon|VmSwap|VmPTE):\s+(\d+) kB/gm, `/proc/${pid}/status`)
      : sumOf(/^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB/gm, `/proc/${pid}/smaps_rollup`) +
          sumOf(/^VmPTE:\s+(\d+) kB/gm, `/proc/${pid}/status`);
  } catch {
    return 0; // It has ended.
  }
}

function sumOf(pattern: RegExp, path: string): number {
  const found = readFileSync(path, 'utf8').matchAll(pattern);
  return found.reduce((sum, [, number]) => sum + Number(number), 0) * KIB;
}
