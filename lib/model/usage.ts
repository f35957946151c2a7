import type { FailedBy } from './failures.ts';

/** What ended renders of an owner have used, on a day, made with one API key. */
export interface UsageOfDay {
  /** UTC, such as `2026-01-31`. */
  day: string;
  /** Null: of jobs without one. */
  keyId: string | null;
  /** Completed renders. */
  completed: number;
  /** Failed renders, by what they failed by. */
  failures: Partial<Record<FailedBy, number>>;
  /** Render time of all of them. */
  seconds: number;
  /** Charged for renders. */
  credits: number;
}

/** A query for the usage of an owner. */
export interface UsageQuery {
  owner: string;
  /** Since when, of jobs created at this time (epoch milliseconds) or later. Default: 30 days ago. */
  sinceMs?: number;
}

/** Renders of an owner that ended on a day in the same way. */
export interface EndedSum {
  /** Days since 1970, UTC. */
  day: number;
  keyId: string | null;
  failedBy: FailedBy | null;
  renders: number;
  durationMs: number;
  creditsCost: number;
}

const DAY_MS = 86_400_000;

/** Sums by day and key, oldest first. */
export function usageOf(sums: readonly EndedSum[]): UsageOfDay[] {
  const days = new Map<string, UsageOfDay>();
  for (const { day, keyId, failedBy, renders, durationMs, creditsCost } of sums) {
    const id = `${day} ${keyId}`;
    const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
    const sum = days.get(id) ?? { day: date, keyId, completed: 0, failures: {}, seconds: 0, credits: 0 };
    if (failedBy === null) sum.completed += renders;
    else sum.failures[failedBy] = (sum.failures[failedBy] ?? 0) + renders;
    sum.seconds = Math.round(sum.seconds * 1000 + durationMs) / 1000;
    sum.credits += creditsCost;
    days.set(id, sum);
  }
  return [...days.values()].sort(
    (a, b) => a.day.localeCompare(b.day) || `${a.keyId}`.localeCompare(`${b.keyId}`),
  );
}
