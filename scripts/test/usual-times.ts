/** How many seconds test files take: for their order, and for the limit after which one that hangs is ended. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/** Recorded on a machine with two cores. */
const RECORDED = 'test/usual-times.json';
const LAST = '.setup/test-times.json';

/** Of each known file: those of the last runs here, or the recorded ones. */
export function usualTimes(): Map<string, number> {
  return new Map([...read(RECORDED), ...read(LAST)]);
}

/** Keeps the times of files that passed, for the next run here. */
export function keepTimes(times: Map<string, number>): void {
  write(LAST, new Map([...read(LAST), ...times]));
}

/** Records the times of files that passed, beside those of other existing files. */
export function recordTimes(times: Map<string, number>, existing: string[]): void {
  const all = new Map([...read(RECORDED), ...times]);
  write(RECORDED, new Map([...all].filter(([path]) => existing.includes(path))));
}

function read(path: string): [string, number][] {
  return existsSync(path)
    ? Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>)
    : [];
}

function write(path: string, times: Map<string, number>): void {
  const sorted = [...times]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, s]) => [file, Number(s.toFixed(1))]);
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}
