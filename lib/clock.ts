/** The source of time. Passed in, so that tests own it. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601 in UTC with milliseconds and `Z`, as the HTTP contract writes times (contract §2.3). */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** The month (UTC) that a moment belongs to, as `2026-11`: the period of a free grant. */
export function monthOf(epochMs: number): string {
  const date = new Date(epochMs);
  return `${date.getUTCFullYear()}-${String(date.getUTCMonth() + 1).padStart(2, '0')}`;
}
