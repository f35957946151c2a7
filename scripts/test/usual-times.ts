/** How many seconds test files take: for their order, and for the limit after which one that hangs is ended. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

type Times = Map<string, number>;

/** Recorded on a machine with two cores, on which several files run at once. */
const RECORDED = 'test/usual-times.json';
/** Of the last runs here. */
const LAST = '.setup/test-times.json';

/** Of each known file; in the deep suite, a file may run more cases. */
export function usualTimes(isDeep: boolean): Times {
  const [recorded, last] = [read(RECORDED), read(LAST)];
  const quick = [...recorded.quick, ...last.quick];
  return new Map(isDeep ? [...quick, ...recorded.deep, ...last.deep] : quick);
}

/** Keeps the times of files that passed, for the next run here. */
export function keepTimes(times: Times, isDeep: boolean): void {
  write(LAST, withTimes(read(LAST), times, isDeep));
}

/** Records the times of files that passed, beside those of other existing files. */
export function recordTimes(times: Times, isDeep: boolean, existing: string[]): void {
  const { quick, deep } = withTimes(read(RECORDED), times, isDeep);
  const existingOf = (all: Times) => new Map([...all].filter(([path]) => existing.includes(path)));
  write(RECORDED, { quick: existingOf(quick), deep: existingOf(deep) });
}

function withTimes({ quick, deep }: Record<'quick' | 'deep', Times>, times: Times, isDeep: boolean) {
  return isDeep
    ? { quick, deep: new Map([...deep, ...times]) }
    : { quick: new Map([...quick, ...times]), deep };
}

function read(path: string): Record<'quick' | 'deep', Times> {
  const stored = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {};
  return {
    quick: new Map(Object.entries(stored.quick ?? {})),
    deep: new Map(Object.entries(stored.deep ?? {})),
  };
}

function write(path: string, { quick, deep }: Record<'quick' | 'deep', Times>): void {
  const sorted = (times: Times) =>
    Object.fromEntries(
      [...times].sort(([a], [b]) => (a < b ? -1 : 1)).map(([file, s]) => [file, Number(s.toFixed(1))]),
    );
  writeFileSync(path, `${JSON.stringify({ quick: sorted(quick), deep: sorted(deep) }, null, 2)}\n`);
}
