/** The source of time and timers. Injected, so tests can control it. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number;
  /**
   * Milliseconds of a monotonic clock with an arbitrary origin, the same in all threads; unaffected by changes of the
   * system time.
   */
  uptimeMs(): number;
  /** Calls `work` once, after `ms` milliseconds. Keeps the process alive until then. */
  after(ms: number, work: () => void): Timer;
  /** Calls `work` every `ms` milliseconds. Does not keep the process alive. */
  every(ms: number, work: () => void): Timer;
}

/** A call that a {@link Clock} will make. */
export interface Timer {
  /** No effect after the timer has fired. */
  cancel(): void;
}

/** The clock of the system. */
export const systemClock: Clock = {
  now: () => Date.now(),
  uptimeMs() {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1_000 + nanoseconds / 1e6;
  },
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return { cancel: () => clearTimeout(timer) };
  },
  every(ms, work) {
    const timer = setInterval(work, ms).unref();
    return { cancel: () => clearInterval(timer) };
  },
};

/** Resolves in the next turn of the event loop: microtasks alone do not yield to other events. */
export function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** Resolves with true after `ms` milliseconds, or immediately with false when `signal` is aborted. */
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

/**
 * ISO 8601 in UTC with milliseconds and `Z`, as the HTTP contract writes times (contract §2.3).
 *
 * ```ts
 * isoTime(0); // 1970-01-01T00:00:00.000Z
 * ```
 */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** The UTC month of a time, as `2026-11`: the period of a free grant. */
export function monthOf(epochMs: number): string {
  const date = new Date(epochMs);
  return `${date.getUTCFullYear()}-${String(date.getUTCMonth() + 1).padStart(2, '0')}`;
}
