/** The source of time, and of timers. Passed in, so that tests own it. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number;
  /** Milliseconds by a monotonic clock, from an arbitrary point on. Nobody sets it. */
  uptimeMs(): number;
  /** Calls `work` once, after `ms` milliseconds. Until then it keeps the process running. */
  after(ms: number, work: () => void): Timer;
  /** Calls `work` every `ms` milliseconds. Keeps no process running. */
  every(ms: number, work: () => void): Timer;
}

export interface Timer {
  /** Does nothing when it has fired. */
  cancel(): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  uptimeMs: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return { cancel: () => clearTimeout(timer) };
  },
  every(ms, work) {
    const timer = setInterval(work, ms).unref();
    return { cancel: () => clearInterval(timer) };
  },
};

/** Resolves with true after `ms` milliseconds; with false, at once, when `signal` is aborted. */
export function delay(clock: Clock, ms: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const timer = clock.after(ms, () => {
      signal?.removeEventListener('abort', giveUp);
      resolve(true);
    });
    const giveUp = () => {
      timer.cancel();
      resolve(false);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
  });
}

const DAY_MS = 86_400_000;
const TWO_DIGITS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));

let lastDay: number | undefined;
let dayText = '';

/**
 * ISO 8601 in UTC with milliseconds and `Z`, as the HTTP contract writes times (contract §2.3). The calendar is asked
 * once a day: it takes several times as long as the rest, and an answer has up to three times in it.
 */
export function isoTime(epochMs: number): string {
  const day = Math.floor(epochMs / DAY_MS);
  if (day !== lastDay) {
    dayText = new Date(epochMs).toISOString().slice(0, -'00:00:00.000Z'.length);
    lastDay = day;
  }
  const ms = Math.floor(epochMs - day * DAY_MS);
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const clock = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`;
  const fraction = ms % 1000;
  return `${dayText}${clock}.${Math.floor(fraction / 100)}${TWO_DIGITS[fraction % 100]}Z`;
}

/** The month (UTC) that a moment belongs to, as `2026-11`: the period of a free grant. */
export function monthOf(epochMs: number): string {
  const date = new Date(epochMs);
  return `${date.getUTCFullYear()}-${String(date.getUTCMonth() + 1).padStart(2, '0')}`;
}
