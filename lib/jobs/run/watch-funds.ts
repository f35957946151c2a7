import type { Logger } from '../../base/logger.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pricing } from '../../ledger/pricing.ts';
import type { JobRecord } from '../../model/job.ts';
import type { Clock } from '../../time/clock.ts';
import { availableOf } from '../accept/ledger-answers.ts';

const CHECK_MS = 1_000;

/**
 * Calls `onRanOut` when the cost of a render, which has worked for `workedMs()`, exceeds its reserve plus the owner's
 * balance. Returns a function that stops the watch.
 */
export function watchFunds(
  {
    jobId,
    owner,
    quality,
    reserveCredits,
  }: Pick<JobRecord, 'jobId' | 'owner' | 'quality' | 'reserveCredits'>,
  { clock, ledger, pricing, logger }: { clock: Clock; ledger: Ledger; pricing: Pricing; logger: Logger },
  { workedMs, onRanOut }: { workedMs: () => number; onRanOut: () => void },
): () => void {
  const check = async () => {
    const cost = pricing.costCredits(quality, workedMs());
    if (cost <= reserveCredits) return;
    const available = await ledger
      .available(owner)
      .then((answer) => availableOf(ledger, answer))
      .catch((error: unknown) => {
        logger.warn({ err: error, jobId }, 'Reading the available credits from the ledger failed.');
        return Number.POSITIVE_INFINITY;
      });
    if (cost > reserveCredits + available) onRanOut();
  };
  const timer = clock.every(CHECK_MS, () => void check());
  return () => timer.cancel();
}
