import { type Clock, delay } from './clock.ts';

/** Waits for `something`, for at most `ms` milliseconds. */
export async function within(clock: Clock, ms: number, something: Promise<unknown>): Promise<void> {
  const settled = new AbortController();
  try {
    await Promise.race([something, delay(clock, ms, settled.signal)]);
  } finally {
    settled.abort();
  }
}
