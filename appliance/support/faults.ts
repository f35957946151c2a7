import type { Logger } from 'pino';
import { isoTime, systemClock } from '../../lib/internal.ts';
import { redact } from './redact.ts';

/** A warning or an error of the service. */
export interface Fault {
  /** ISO 8601, UTC; of the last time. */
  at: string;
  level: 'warn' | 'error' | 'fatal';
  message: string;
  /** The message of its cause; null without one. */
  cause: string | null;
  /** How often it came. */
  times: number;
}

const MOST = 50;
const LONGEST_CAUSE = 300;
const LEVELS = ['warn', 'error', 'fatal'] as const;

/** The latest warnings and errors of this process, in memory, without keys, secrets and e-mail addresses. */
export class Faults {
  readonly #faults: Fault[] = [];

  /** Newest first. */
  list(): Fault[] {
    return this.#faults.toReversed();
  }

  /** A logger whose warnings and errors are kept here too, also those below its level. */
  watch(logger: Logger): Logger {
    const watched = logger.child({});
    for (const level of LEVELS) {
      const log = watched[level].bind(watched) as (...args: unknown[]) => void;
      watched[level] = (...args: unknown[]) => {
        this.#add(level, args);
        log(...args);
      };
    }
    return watched;
  }

  #add(level: Fault['level'], [fields, text]: unknown[]): void {
    const message = redact(String((typeof fields === 'string' ? fields : text) ?? ''));
    const cause = causeIn(fields);
    const at = isoTime(systemClock.now());
    const known = this.#faults.findIndex((fault) => fault.message === message && fault.cause === cause);
    const [{ times } = { times: 0 }] = known < 0 ? [] : this.#faults.splice(known, 1);
    this.#faults.push({ at, level, message, cause, times: times + 1 });
    if (this.#faults.length > MOST) this.#faults.shift();
  }
}

function causeIn(fields: unknown): string | null {
  const error = (fields as { err?: unknown } | null)?.err;
  return error instanceof Error ? redact(error.message).slice(0, LONGEST_CAUSE) : null;
}
