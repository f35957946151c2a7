import { tooManyRequests } from '@hapi/boom';
import { texts } from './language/texts.ts';

const RETRY_AFTER_S = '1';

/**
 * Lets the work of an account take turns, so that many requests of one account keep no other waiting: at most `atOnce` at
 * the same time, in the order of the calls, while at most `mostWaiting` others wait.
 */
export class Turns {
  readonly #atOnce: number;
  readonly #mostWaiting: number;
  readonly #accounts = new Map<string, { running: number; waiting: (() => void)[] }>();

  constructor({ atOnce, mostWaiting }: { atOnce: number; mostWaiting: number }) {
    this.#atOnce = atOnce;
    this.#mostWaiting = mostWaiting;
  }

  /** The number of accounts with work. */
  get size(): number {
    return this.#accounts.size;
  }

  /** Error: 429 when too many wait. */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const turns = this.#accounts.get(accountId) ?? { running: 0, waiting: [] };
    this.#accounts.set(accountId, turns);
    if (turns.running < this.#atOnce) turns.running += 1;
    else if (turns.waiting.length < this.#mostWaiting) {
      // The one that ends passes its place on.
      await new Promise<void>((resolve) => turns.waiting.push(resolve));
    } else {
      const error = tooManyRequests(texts().errors.tooManyPagesAtOnce);
      error.output.headers['retry-after'] = RETRY_AFTER_S;
      throw error;
    }
    try {
      return await work();
    } finally {
      const next = turns.waiting.shift();
      if (next) next();
      else turns.running -= 1;
      if (turns.running === 0) this.#accounts.delete(accountId);
    }
  }
}
