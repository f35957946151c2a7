import type { Logger } from '../base/logger.ts';
import { type Clock, delay } from './clock.ts';

/** The delays of an exponential backoff, each twice as long as the one before. */
export class Backoff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  #nextMs: number;

  constructor(firstMs: number, longestMs: number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#nextMs = firstMs;
  }

  /** The next delay. */
  get nextMs(): number {
    return this.#nextMs;
  }

  /** Returns the next delay, and doubles the one after it. */
  next(): number {
    const delayMs = this.#nextMs;
    this.#nextMs = Math.min(2 * delayMs, this.#longestMs);
    return delayMs;
  }

  /** Called after a success. */
  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/**
 * Retries a step with exponential backoff until it succeeds: a full disk or an unavailable ledger delays the step but
 * does not change it. Resolves with undefined when `signal` is aborted. `failed` is the message logged for each
 * failure.
 */
export async function retry<T>(
  step: () => Promise<T>,
  options: { clock: Clock; signal: AbortSignal; logger: Logger; failed: string; subject?: object },
): Promise<T | undefined> {
  const { clock, signal, logger, failed, subject } = options;
  for (const backoff = new Backoff(FIRST_MS, LONGEST_MS); ; ) {
    try {
      return await step();
    } catch (error) {
      const againInMs = backoff.next();
      logger.error({ err: error, ...subject, againInMs }, `${failed}; retrying.`);
      if (!(await delay(clock, againInMs, signal))) return undefined;
    }
  }
}
