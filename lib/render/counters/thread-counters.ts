import { type Clock, delay } from '../../time/clock.ts';

/** Counters shared by the pool and its threads. */
export type ThreadCounters = Int32Array<SharedArrayBuffer>;

/** The number of threads ever started; determines each thread's work folder and user id. */
export const STARTED = 0;
/** 1 once the pool stops: threads that start later must not start processes. */
export const STOPPING = 1;

/** The lock of {@link inTurn}. */
const TURN = 2;
/** 1 once a thread has checked a limit that all threads share. */
export const TRIED_TOGETHER = 3;

export function threadCounters(): ThreadCounters {
  return new Int32Array(new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT));
}

/** Time-out of the lock, in case its owner died; longer than any work done under it. */
const LONGEST_TURN_MS = 120_000;
const POLL_MS = 20;

/** Runs work under a lock shared by all threads. */
export async function inTurn<T>(threads: ThreadCounters, clock: Clock, work: () => Promise<T>): Promise<T> {
  const giveUpMs = clock.uptimeMs() + LONGEST_TURN_MS;
  while (Atomics.compareExchange(threads, TURN, 0, 1) === 1 && clock.uptimeMs() < giveUpMs)
    await delay(clock, POLL_MS);
  try {
    return await work();
  } finally {
    Atomics.store(threads, TURN, 0);
  }
}
