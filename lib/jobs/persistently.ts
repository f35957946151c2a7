import { type Clock, delay } from '../clock.ts';
import type { Logger } from '../logger.ts';

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * Repeats a step until it succeeds: a full disk or a ledger that doesn't answer delays a job's end, it doesn't change
 * it. Gives up, with undefined, when `signal` is aborted; recovery goes on after the next start.
 */
export async function persistently<T>(
  step: () => Promise<T>,
  { clock, signal, logger }: { clock: Clock; signal: AbortSignal; logger: Logger },
): Promise<T | undefined> {
  for (let waitMs = FIRST_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_MS)) {
    try {
      return await step();
    } catch (error) {
      logger.error({ err: error, againInMs: waitMs }, 'A step could not be written down; trying again.');
      if (!(await delay(clock, waitMs, signal))) return undefined;
    }
  }
}
