import { ScenepressError } from '../../lib/internal.ts';

const DAY = /^\d{4}-\d\d-\d\d$/;
const DURATION = /^([1-9]\d{0,4})([hdw])$/;
const UNIT_MS: Record<string, number> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * When a key expires, in epoch milliseconds: at the end of a day (UTC), such as `2027-01-31`, or after hours, days or weeks,
 * such as `12h`, `90d` or `4w`. Error: `invalid_request`, also for a day that is past.
 */
export function expiryOf(text: string, nowMs: number): number {
  const ms = DAY.test(text) ? endOfDay(text) : nowMs + durationOf(text);
  if (ms > nowMs) return ms;
  throw new ScenepressError(
    'invalid_request',
    'A key expires at the end of a day that is not past, such as 2027-01-31 (UTC), or after hours, days or weeks, such ' +
      'as 12h, 90d or 4w.',
  );
}

/** NaN for a day that no month has. */
function endOfDay(day: string): number {
  const ms = Date.parse(`${day}T23:59:59.999Z`);
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(day) ? Number.NaN : ms;
}

function durationOf(text: string): number {
  const [, count, unit = ''] = DURATION.exec(text) ?? [];
  return Number(count) * (UNIT_MS[unit] ?? Number.NaN);
}
