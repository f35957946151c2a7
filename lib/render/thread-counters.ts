/** Numbers that the pool and its threads share. */
export type ThreadCounters = Int32Array<SharedArrayBuffer>;

/** How many threads were ever started: each has a work folder and a user id of its own. */
export const STARTED = 0;
/** 1 once the pool stops: a thread that comes up only then must not start anything. */
export const STOPPING = 1;

export function threadCounters(): ThreadCounters {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
}
