import { setTimeout as delay } from 'node:timers/promises';

/** Waits for something, but no longer than that. */
export async function within(ms: number, something: Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  await Promise.race([something, delay(ms, undefined, { signal: timer.signal }).catch(() => {})]);
  timer.abort();
}
