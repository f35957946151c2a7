import { known } from '../base/known-options.ts';
import type { Clock } from './clock.ts';

/** How often something may happen. */
export interface Rate {
  /** On average. */
  perSecond: number;
  /** At once, after a pause. */
  burst: number;
}

const NAMES = { perSecond: true, burst: true, clock: true };

/**
 * Counts what happens under each name against a rate, in memory: a token bucket for each. Names that have not used any of
 * it are not kept.
 *
 * ```ts
 * const rates = new Rates({ perSecond: 20, burst: 200, clock: systemClock });
 * const waitMs = rates.waitMs('ada');
 * if (waitMs > 0) throw new ScenepressError('too_many_requests', 'Wait a little.', { retryAfterMs: waitMs });
 * rates.add('ada');
 * ```
 */
export class Rates {
  readonly #burst: number;
  /** What makes up for one. */
  readonly #intervalMs: number;
  readonly #clock: Clock;
  /** The uptime at which the whole burst is allowed again. The name that was added to last comes last. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(options: Rate & { clock: Clock }) {
    const { perSecond, burst, clock } = known('Rates', options, NAMES);
    this.#burst = burst;
    this.#intervalMs = 1000 / perSecond;
    this.#clock = clock;
  }

  get size(): number {
    return this.#fullAtMs.size;
  }

  /** Milliseconds until it may happen so many times at once; 0: now. More than the burst need a pause as the burst does. */
  waitMs(name: string, count = 1): number {
    const usedMs = (this.#fullAtMs.get(name) ?? 0) - this.#clock.uptimeMs();
    const free = this.#burst - Math.min(count, this.#burst);
    return Math.max(0, Math.ceil(usedMs - free * this.#intervalMs));
  }

  /** Counts so many, also beyond the rate. */
  add(name: string, count = 1): void {
    const nowMs = this.#clock.uptimeMs();
    const fullAtMs = Math.max(nowMs, this.#fullAtMs.get(name) ?? 0) + count * this.#intervalMs;
    this.#fullAtMs.delete(name);
    for (const [other, atMs] of this.#fullAtMs) {
      if (atMs > nowMs) break;
      this.#fullAtMs.delete(other);
    }
    this.#fullAtMs.set(name, fullAtMs);
  }
}
