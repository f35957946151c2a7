import { type Clock, delay } from '../clock.ts';
import type { Logger } from '../logger.ts';

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * Retries a step with exponential backoff until it succeeds: a full disk or an unavailable ledger delays the end of a
 * job but does not change it. Resolves with undefined when `signal` is aborted; recovery continues after the next
 * start.
 */
export async function persistently<T>(
  step: () => Promise<T>,
  { clock, signal, logger }: { clock: Clock; signal: AbortSignal; logger: Logger },
): Promise<T | undefined> {
  for (let waitMs = FIRST_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_MS)) {
    try {
      return await step();
    } catch (error) {
      logger.error({ err: error, againInMs: waitMs }, 'Recording the state of a job failed; retrying.');
      if (!(await delay(clock, waitMs, signal))) return undefined;
    }
  }
}
