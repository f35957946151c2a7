import type { Clock } from '../../lib/index.ts';
import { Rates, ScenepressError, systemClock } from '../../lib/internal.ts';

/** The requests of so many seconds may come at once. */
const BURST_SECONDS = 10;

/** Limits how often each key is used, on this machine. */
export class KeyRate {
  /** Undefined: any. */
  readonly #rates: Rates | undefined;

  /** `perSecond`: requests with one key on average; 0: any number. */
  constructor(perSecond: number, clock: Clock = systemClock) {
    const burst = Math.max(1, perSecond * BURST_SECONDS);
    this.#rates = perSecond > 0 ? new Rates({ perSecond, burst, clock }) : undefined;
  }

  /** Counts a request with a key. Error: `too_many_requests`, with `retryAfterMs`, beyond the rate. */
  count(keyId: string): void {
    const retryAfterMs = this.#rates?.waitMs(keyId) ?? 0;
    if (retryAfterMs > 0) {
      const seconds = Math.ceil(retryAfterMs / 1000);
      const message = `This key was used more often within a short time than it may. Try again in ${seconds} s.`;
      throw new ScenepressError('too_many_requests', message, { retryAfterMs });
    }
    this.#rates?.add(keyId);
  }
}
