import { known } from '../base/known-options.ts';
import { systemClock } from '../time/clock.ts';
import { during, type PendingCall, watched } from './watched-calls.ts';

/**
 * A test of behavior that every implementation of an interface must have. Independent of test runners:
 *
 * ```ts
 * for (const { title, run } of ledgerSuite(open)) test(title, run);
 * ```
 */
export interface Behaviour {
  /** For the title of a test. */
  title: string;
  /**
   * Rejects when the implementation does not behave so, and after `timeoutMs` with the names of the calls that have not
   * ended.
   */
  run: () => Promise<void>;
}

/** The implementation under test, opened for each behavior: started, with what its suite asks for, closed by `close`. */
export interface Opened<T> {
  /** What is tested. */
  subject: T;
  /** Called after each behavior. */
  close: () => Promise<void>;
}

/** Options of a suite. */
export interface SuiteOptions {
  /** How long a behavior may take, in milliseconds, with `open` and `close`; default 60,000. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 60_000;

/** A suite: how its subjects are opened, and what they must hold then. */
interface Suite<T> {
  name: string;
  open: () => Promise<Opened<T>>;
  options: SuiteOptions;
  /** What `open` must return, for the error, such as `a database with empty tables`. */
  holds?: string;
  /** What a subject holds instead, for the error; undefined: what it must. */
  flaw?: (subject: T) => Promise<string | undefined>;
}

/** Creates behaviors from functions that take an opened subject. */
export function behaviours<T extends object>(
  { name, open, options, holds, flaw }: Suite<T>,
  table: Record<string, (subject: T) => Promise<void>>,
): Behaviour[] {
  const { timeoutMs = TIMEOUT_MS } = known(name, options, { timeoutMs: true });
  return Object.entries(table).map(([title, check]) => ({
    title,
    async run() {
      const calls = new Set<PendingCall>();
      let isOver = false;
      const whole = async () => {
        const { subject, close } = await during(open(), 'open', calls);
        try {
          const found = isOver ? undefined : await flaw?.(watched(subject, calls));
          if (found !== undefined)
            throw new Error(`${name}: open must return ${holds}. This one has ${found}.`);
          if (!isOver) await check(watched(subject, calls));
        } finally {
          await during(close(), 'close', calls);
        }
      };
      const { promise: late, reject } = Promise.withResolvers<never>();
      const timer = systemClock.after(timeoutMs, () => {
        isOver = true;
        const pending = [...new Set(Array.from(calls, (call) => `${call.name}()`))].join(', ');
        const which = pending === '' ? 'No call is in progress.' : `Not ended: ${pending}.`;
        reject(new Error(`${name}: “${title}” took longer than ${timeoutMs} ms. ${which}`));
      });
      try {
        const ended = whole();
        ended.catch(() => {}); // Not awaited after the time-out.
        await Promise.race([ended, late]);
      } finally {
        timer.cancel();
      }
    },
  }));
}
