import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { availableParallelism, freemem, totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Storage } from '../../lib/index.ts';
import type { Config } from '../config/config.ts';
import { shortages } from '../process-limits.ts';
import { type Finding, failed, gib, ok, warning } from './finding.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const LEAST_DISK = 256 * MIB;
const ENOUGH_DISK = 5 * GIB;
const LEAST_MEMORY = 512 * MIB;
/** A clock before the release of this program is wrong. */
const EARLIEST_PLAUSIBLE_MS = Date.parse('2026-01-01T00:00:00Z');
const DRIFT_MS = 500;
/** Times of jobs and webhooks are those of the machines, which must agree within a few seconds. */
const MOST_DIFFERENCE_MS = 5_000;

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

/** Those of the doctor, which are those of a service that is started in the same way. */
export function examineLimits(config: Config): Finding[] {
  const lacking = shortages(config).map(({ message, remedy }) => failed('Process', message, remedy));
  return lacking.length > 0
    ? lacking
    : [ok('Process', 'its limits of open files, processes and address space suffice')];
}

/** Checks the disk of the data folder. */
export async function examineDisk({ dataDir }: Config): Promise<Finding> {
  const place = nearestFolder(dataDir);
  const { bsize, bavail, blocks } = await statfs(place);
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

/** By how much the clock of a database is ahead of this machine's; undefined for a storage without one. */
export async function databaseAheadMs(storage: Storage): Promise<number | undefined> {
  if (!storage.nowMs) return undefined;
  const beforeMs = Date.now();
  const databaseMs = await storage.transaction((tx) => storage.nowMs?.(tx) ?? Promise.resolve(beforeMs));
  return databaseMs - (beforeMs + Date.now()) / 2;
}

/** Detects clock changes between its construction and `finding`. */
export class ClockWatch {
  readonly #wallMs = Date.now();
  readonly #steadyMs = performance.now();

  /**
   * `newestMs`: the latest stored timestamp, of this machine's clock if there is no database. `aheadMs`: by how much the
   * clock of the database is ahead.
   */
  finding({ newestMs, aheadMs }: { newestMs: number | null; aheadMs: number | undefined }): Finding {
    const wallMs = Date.now();
    const drift = wallMs - this.#wallMs - (performance.now() - this.#steadyMs);
    const remedy = 'Synchronize the clock with NTP; with systemd: timedatectl set-ntp true.';
    const now = new Date(wallMs).toISOString();
    if (wallMs < EARLIEST_PLAUSIBLE_MS)
      return failed('Clock', `it shows ${now}, which is in the past`, remedy);
    if (aheadMs !== undefined && Math.abs(aheadMs) > MOST_DIFFERENCE_MS) {
      const seconds = Math.round(Math.abs(aheadMs) / 1000);
      const how = aheadMs > 0 ? 'behind' : 'ahead of';
      return failed('Clock', `it shows ${now}, ${seconds} s ${how} that of the database`, remedy);
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
