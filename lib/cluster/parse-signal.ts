import type { Signal } from '../storage/signals.ts';

type Fields = Record<string, unknown>;

const isText = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown) => typeof value === 'number';
const isNumberOrNull = (value: unknown) => value === null || isNumber(value);
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const areAll = (value: unknown, is: (item: unknown) => boolean) => Array.isArray(value) && value.every(is);

const isChangedJob = (job: unknown) =>
  isObject(job) &&
  [job['jobId'], job['owner'], job['phase']].every(isText) &&
  isNumber(job['attempts']) &&
  [job['durationMs'], job['completedAtMs']].every(isNumberOrNull) &&
  (job['failedBy'] === undefined || isText(job['failedBy']));

const isProgress = (progress: unknown) =>
  isObject(progress) &&
  isText(progress['stage']) &&
  [progress['frames'], progress['seconds']].every(isNumber);

const IS_VALID: Record<Signal['kind'], (signal: Fields) => boolean> = {
  waiting: () => true,
  due: () => true,
  settings: () => true,
  canceled: ({ jobId }) => isText(jobId),
  changed: ({ from, jobs }) => isText(from) && areAll(jobs, isChangedJob),
  watched: ({ from, jobIds }) => isText(from) && areAll(jobIds, isText),
  progress: ({ from, jobId, progress }) => isText(from) && isText(jobId) && isProgress(progress),
  preview: ({ from, jobId, jpeg }) => [from, jobId, jpeg].every(isText),
};

/** Parses a signal; undefined for messages of other programs, or of versions with other fields. */
export function parseSignal(text: string): Signal | undefined {
  let signal: unknown;
  try {
    signal = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(signal) || !isText(signal['kind'])) return undefined;
  const kind = signal['kind'] as Signal['kind'];
  return Object.hasOwn(IS_VALID, kind) && IS_VALID[kind](signal) ? (signal as unknown as Signal) : undefined;
}
