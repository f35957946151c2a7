import { parse } from 'node-cron';
import type { Clock, Timer } from './clock.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** How far back missed minutes are made up after the process or the machine was suspended. */
const MOST_MINUTES_BACK = 60;
/** How far back {@link lastTimes} looks: past two leap days. */
const MOST_DAYS_BACK = 9 * 366;

/**
 * Calls `work` at the times of a cron pattern (UTC, in minutes), by a clock. When several times have passed, it is
 * called once. Keeps the process alive. Errors are the work's own to handle.
 */
export function schedule(clock: Clock, pattern: string, work: () => void): Timer {
  const times = timesOf(pattern);
  let timer: Timer;
  let last = minuteOf(clock);
  const wait = () => {
    timer = clock.after(MINUTE_MS - (clock.now() % MINUTE_MS), look);
  };
  const look = () => {
    const now = minuteOf(clock);
    const first = Math.max(last + 1, now - MOST_MINUTES_BACK);
    let isDue = false;
    for (let minute = first; minute <= now && !isDue; minute++) isDue = isDueAt(times, minute);
    last = now;
    wait();
    if (isDue) work();
  };
  wait();
  return { cancel: () => timer.cancel() };
}

/** The last `count` times of a cron pattern until now, newest first, in epoch milliseconds; fewer if they are years ago. */
export function lastTimes(pattern: string, nowMs: number, count: number): number[] {
  const times = timesOf(pattern);
  const found: number[] = [];
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  for (let day = today; day > today - MOST_DAYS_BACK * DAY_MS; day -= DAY_MS) {
    if (!isOnDay(times, new Date(day))) continue;
    for (const hour of times.hour.toReversed()) {
      for (const minute of times.minute.toReversed()) {
        const at = day + (hour * 60 + minute) * MINUTE_MS;
        if (at <= nowMs && found.push(at) === count) return found;
      }
    }
  }
  return found;
}

/**
 * Throws an error for a cron pattern that {@link schedule} cannot follow: it is invalid, has seconds, or names days
 * otherwise than by numbers, names and ranges.
 */
export function assertSchedule(pattern: string): void {
  const { second, ...times } = parse(pattern);
  const numbers: unknown[] = Object.values(times).flat();
  if (second.join() !== '0' || !numbers.every((number) => typeof number === 'number'))
    throw new Error('not a pattern of minutes');
}

type Times = Record<'minute' | 'hour' | 'dayOfMonth' | 'month' | 'dayOfWeek', number[]>;

function minuteOf(clock: Clock): number {
  return Math.floor(clock.now() / MINUTE_MS);
}

/** The numbers of a pattern, in ascending order. Node-cron's own timers use the system's clock. */
function timesOf(pattern: string): Times {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(pattern);
  const sorted = (numbers: unknown[]) => (numbers as number[]).toSorted((a, b) => a - b);
  return {
    minute: sorted(minute),
    hour: sorted(hour),
    dayOfMonth: sorted(dayOfMonth),
    month: sorted(month),
    dayOfWeek: sorted(dayOfWeek),
  };
}

/** Whether a pattern matches a minute since the epoch. */
function isDueAt(times: Times, minute: number): boolean {
  const date = new Date(minute * MINUTE_MS);
  return (
    times.minute.includes(date.getUTCMinutes()) &&
    times.hour.includes(date.getUTCHours()) &&
    isOnDay(times, date)
  );
}

function isOnDay({ dayOfMonth, month, dayOfWeek }: Times, date: Date): boolean {
  return (
    dayOfMonth.includes(date.getUTCDate()) &&
    month.includes(date.getUTCMonth() + 1) &&
    dayOfWeek.includes(date.getUTCDay())
  );
}
