import assert from 'node:assert/strict';
import { known } from '../base/known-options.ts';
import { QUALITIES, QUALITY_NAMES, type Quality } from '../model/qualities.ts';

/** Credits per second of render time, and the seconds reserved at enqueue. */
export interface PricingOptions {
  /** Credits for a second of rendering, for each quality. */
  creditsPerSecond: Record<Quality, number>;
  /** A job reserves the price of so many seconds. */
  reserveSeconds: number;
}

/** Credits per second of rendering, by quality, and the seconds that are reserved when a job is accepted. */
export const DEFAULT_PRICING: PricingOptions = {
  creditsPerSecond: Object.fromEntries(
    QUALITY_NAMES.map((quality) => [quality, QUALITIES[quality].creditsPerSecond]),
  ) as Record<Quality, number>,
  reserveSeconds: 5,
};

/**
 * Computes the price of renders in whole credits.
 *
 * ```ts
 * const pricing = new Pricing();
 * pricing.reserveCredits('high'); // what a balance must cover
 * pricing.costCredits('high', 12_500); // of a render of 12.5 s
 * ```
 */
export class Pricing {
  readonly #options: PricingOptions;

  constructor(options: PricingOptions = DEFAULT_PRICING) {
    known('Pricing', options, DEFAULT_PRICING);
    known('creditsPerSecond', options.creditsPerSecond, DEFAULT_PRICING.creditsPerSecond);
    for (const price of Object.values(options.creditsPerSecond)) assert(Number.isFinite(price) && price > 0);
    assert(Number.isFinite(options.reserveSeconds) && options.reserveSeconds > 0);
    this.#options = options;
  }

  /** The reserve of a job: the price of its first `reserveSeconds`. */
  reserveCredits(quality: Quality): number {
    return this.costCredits(quality, this.#options.reserveSeconds * 1000);
  }

  /** The cost of a render: `max(1, ceil(seconds × price))`. */
  costCredits(quality: Quality, durationMs: number): number {
    assert(durationMs >= 0);
    // Multiplies milliseconds, to avoid floating-point error: 4.1 s × 10 must be 41 credits, not 42.
    const cost = Math.ceil((durationMs * this.#options.creditsPerSecond[quality]) / 1000);
    return Math.max(1, cost);
  }
}
