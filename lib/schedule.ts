import { parse } from 'node-cron';
import type { Clock, Timer } from './clock.ts';

const MINUTE_MS = 60_000;
/** How far back missed minutes are made up after the process or the machine was suspended. */
const MOST_MINUTES_BACK = 60;

/**
 * Calls `work` at the times of a cron pattern (UTC, in minutes), by a clock. When several times have passed, it is
 * called once. Keeps the process alive. Errors are the work's own to handle.
 */
export function schedule(clock: Clock, pattern: string, work: () => void): Timer {
  const isDueAt = timesOf(pattern);
  let timer: Timer;
  let last = minuteOf(clock);
  const wait = () => {
    timer = clock.after(MINUTE_MS - (clock.now() % MINUTE_MS), look);
  };
  const look = () => {
    const now = minuteOf(clock);
    const first = Math.max(last + 1, now - MOST_MINUTES_BACK);
    let isDue = false;
    for (let minute = first; minute <= now && !isDue; minute++) isDue = isDueAt(minute);
    last = now;
    wait();
    if (isDue) work();
  };
  wait();
  return { cancel: () => timer.cancel() };
}

function minuteOf(clock: Clock): number {
  return Math.floor(clock.now() / MINUTE_MS);
}

/** Whether a pattern matches a minute since the epoch. Node-cron's own timers use the system's clock. */
function timesOf(pattern: string): (minute: number) => boolean {
  const { minute, hour, dayOfMonth, month, dayOfWeek } = parse(pattern);
  return (number) => {
    const date = new Date(number * MINUTE_MS);
    return (
      minute.includes(date.getUTCMinutes()) &&
      hour.includes(date.getUTCHours()) &&
      dayOfMonth.includes(date.getUTCDate()) &&
      month.includes(date.getUTCMonth() + 1) &&
      dayOfWeek.includes(date.getUTCDay())
    );
  };
}
