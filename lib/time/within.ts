import { type Clock, delay } from './clock.ts';

/** Waits for `something`, for at most `ms` milliseconds; undefined when these are over. */
export async function within<T>(clock: Clock, ms: number, something: Promise<T>): Promise<T | undefined> {
  const settled = new AbortController();
  try {
    return await Promise.race([something, delay(clock, ms, settled.signal).then(() => undefined)]);
  } finally {
    settled.abort();
  }
}
