import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { type Finding, failed, gib, ok, warning } from './finding.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const LEAST_DISK = 256 * MIB;
const ENOUGH_DISK = 5 * GIB;
const LEAST_MEMORY = 512 * MIB;
/** Before this program was made, a clock can't be right. */
const THE_PAST = Date.parse('2026-01-01T00:00:00Z');
const DRIFT_MS = 500;

/** Cores, memory and disk, against what the configuration asks of them. */
export async function examineMachine(config: Config): Promise<Finding[]> {
  return [examineCores(config), examineMemory(config), await examineDisk(config)];
}

function examineCores({ workers }: Config): Finding {
  const cores = availableParallelism();
  const count = `${cores} for ${workers ?? cores} workers`;
  if ((workers ?? cores) <= 2 * cores) return ok('Cores', count);
  return warning('Cores', count, 'More workers than cores only wait for each other: set --workers lower.');
}

function examineMemory({ workers, renderMemoryMb }: Config): Finding {
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(totalmem(), limit) : totalmem();
  const needed = (workers ?? availableParallelism()) * renderMemoryMb * MIB;
  const message = `${gib(total)}, of which ${gib(Math.min(freemem(), total))} are free; renders may use ${gib(needed)} together`;
  if (total < LEAST_MEMORY)
    return failed('Memory', message, `Manim alone needs ${gib(LEAST_MEMORY)}: get a larger machine.`);
  if (needed <= total) return ok('Memory', message);
  return warning(
    'Memory',
    message,
    'When all renders use what they may, the machine runs out: set --workers or --render-memory-mb lower.',
  );
}

async function examineDisk({ dataDir }: Config): Promise<Finding> {
  const place = nearestFolder(dataDir);
  const { bsize, bavail, blocks } = await statfs(place);
  const message = `${gib(bavail * bsize)} of ${gib(blocks * bsize)} are free where ${place} is`;
  const remedy = 'Free some space, or let artifacts be removed with --retention-days or --retention-gb.';
  if (bavail * bsize < LEAST_DISK) return failed('Disk', message, remedy);
  return bavail * bsize < ENOUGH_DISK ? warning('Disk', message, remedy) : ok('Disk', message);
}

/** The folder itself, or the first above it that is there. */
export function nearestFolder(path: string): string {
  const folder = resolve(path);
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
}

/** Watches the clock while the doctor looks at other things. */
export class ClockWatch {
  readonly #wallMs = Date.now();
  readonly #steadyMs = performance.now();

  /** `newestMs`: when something was last written down, by the same clock. */
  finding(newestMs: number | null): Finding {
    const wallMs = Date.now();
    const drift = wallMs - this.#wallMs - (performance.now() - this.#steadyMs);
    const remedy = 'Let the machine keep its time by itself; with systemd: timedatectl set-ntp true.';
    const now = new Date(wallMs).toISOString();
    if (wallMs < THE_PAST) return failed('Clock', `it says ${now}, which is long ago`, remedy);
    if (newestMs !== null && newestMs > wallMs + 60_000) {
      const newest = new Date(newestMs).toISOString();
      return failed('Clock', `it says ${now}, but data was written at ${newest}`, remedy);
    }
    if (Math.abs(drift) > DRIFT_MS) {
      return warning('Clock', `it was set by ${Math.round(drift)} ms in the meantime`, remedy);
    }
    return ok('Clock', `it says ${now}, and runs as fast as time`);
  }
}
