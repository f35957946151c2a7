import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { clockText, isClockWrong } from '../machines/clock.ts';
import { shortages } from '../place/process-limits.ts';
import { type Finding, failed, gib, ok, warning } from './finding.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const LEAST_DISK = 256 * MIB;
const ENOUGH_DISK = 5 * GIB;
const LEAST_FILES = 1_000;
const LEAST_MEMORY = 512 * MIB;
/** A clock before the release of this program is wrong. */
const EARLIEST_PLAUSIBLE_MS = Date.parse('2026-01-01T00:00:00Z');
const DRIFT_MS = 500;

/** Checks cores and memory against what the renders of the configuration need. */
export function examineMachine(config: Config): Finding[] {
  return [examineCores(config), examineMemory(config)];
}

function examineCores({ workers }: Config): Finding {
  const cores = availableParallelism();
  const count = `${cores} for ${workers ?? cores} workers`;
  if ((workers ?? cores) <= 2 * cores) return ok('Cores', count);
  return warning('Cores', count, 'Too many workers slow each other down: reduce --workers.');
}

function examineMemory({ workers, renderMemoryMb }: Config): Finding {
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(totalmem(), limit) : totalmem();
  const needed = (workers ?? availableParallelism()) * renderMemoryMb * MIB;
  const message = `${gib(total)}, ${gib(Math.min(freemem(), total))} free; all renders together may use ${gib(needed)}`;
  if (total < LEAST_MEMORY)
    return failed('Memory', message, `Manim alone needs ${gib(LEAST_MEMORY)}: use a larger machine.`);
  if (needed <= total) return ok('Memory', message);
  return warning(
    'Memory',
    message,
    'If all renders reach their limit, the machine runs out of memory: reduce --workers or --render-memory-mb.',
  );
}

/** The limits of the doctor's process, which a service that is started in the same way has, too. */
export function examineLimits(config: Config): Finding[] {
  const lacking = shortages(config).map(({ message, remedy }) => failed('Process', message, remedy));
  return lacking.length > 0
    ? lacking
    : [ok('Process', 'its limits of open files, processes and address space suffice')];
}

/** Checks the disk of the data folder. */
export async function examineDisk({ dataDir }: Pick<Config, 'dataDir'>): Promise<Finding> {
  const place = nearestFolder(dataDir);
  const { bsize, bavail, blocks, files, ffree } = await statfs(place);
  if (files > 0 && ffree < LEAST_FILES)
    return failed(
      'Disk',
      `${ffree} free inodes on the file system of ${place}`,
      'Remove files from it; `df -i` shows how many there are.',
    );
  const message = `${gib(bavail * bsize)} of ${gib(blocks * bsize)} free on the file system of ${place}`;
  const remedy = 'Free some space, or limit the artifacts with --retention-days or --retention-gb.';
  if (bavail * bsize < LEAST_DISK) return failed('Disk', message, remedy);
  return bavail * bsize < ENOUGH_DISK ? warning('Disk', message, remedy) : ok('Disk', message);
}

/** The folder itself, or its nearest existing parent. */
export function nearestFolder(path: string): string {
  const folder = resolve(path);
  return existsSync(folder) ? folder : nearestFolder(dirname(folder));
}

/** Detects clock changes between its construction and `finding`. */
export class ClockWatch {
  readonly #wallMs = Date.now();
  readonly #steadyMs = performance.now();

  /**
   * `newestMs`: the latest stored timestamp of the same clock. `aheadMs`: how far it is ahead of that of the database; null
   * without one.
   */
  finding(newestMs: number | null, aheadMs: number | null): Finding {
    const wallMs = Date.now();
    const drift = wallMs - this.#wallMs - (performance.now() - this.#steadyMs);
    const remedy = 'Synchronize the clock with NTP; with systemd: timedatectl set-ntp true.';
    const now = new Date(wallMs).toISOString();
    if (wallMs < EARLIEST_PLAUSIBLE_MS)
      return failed('Clock', `it shows ${now}, which is in the past`, remedy);
    if (isClockWrong(aheadMs)) {
      const difference = `it shows ${now}, ${clockText(aheadMs)} that of the database`;
      return failed(
        'Clock',
        difference,
        'Synchronize both with NTP; with systemd: timedatectl set-ntp true.',
      );
    }
    if (newestMs !== null && newestMs > wallMs + 60_000) {
      const newest = new Date(newestMs).toISOString();
      return failed('Clock', `it shows ${now}, but data was written at ${newest}`, remedy);
    }
    if (Math.abs(drift) > DRIFT_MS) {
      return warning('Clock', `it was changed by ${Math.round(drift)} ms during the checks`, remedy);
    }
    return ok('Clock', `it shows ${now} and was not changed during the checks`);
  }
}
