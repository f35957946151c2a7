/** Numbers that the pool and its threads share. */
export type ThreadCounters = Int32Array<SharedArrayBuffer>;

/** How many threads were ever started: each has a work folder and a user id of its own. */
export const STARTED = 0;
/** 1 once the pool stops: a thread that comes up only then must not start anything. */
export const STOPPING = 1;

/** 1 while a thread has its turn: see {@link inTurn}. */
const TURN = 2;
/** 1 once a thread has tried what is limited for all of them together. */
export const TRIED_TOGETHER = 3;

export function threadCounters(): ThreadCounters {
  return new Int32Array(new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT));
}

/** Longer than anything that is done in turn: a thread that died would hold up the others for ever. */
const LONGEST_TURN_MS = 120_000;

/** Does something while no other thread does. */
export async function inTurn<T>(threads: ThreadCounters, work: () => Promise<T>): Promise<T> {
  const giveUpMs = performance.now() + LONGEST_TURN_MS;
  while (Atomics.compareExchange(threads, TURN, 0, 1) === 1 && performance.now() < giveUpMs) {
    await Atomics.waitAsync(threads, TURN, 1, LONGEST_TURN_MS).value;
  }
  try {
    return await work();
  } finally {
    Atomics.store(threads, TURN, 0);
    Atomics.notify(threads, TURN, 1);
  }
}
