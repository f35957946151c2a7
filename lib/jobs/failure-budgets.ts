import type { Clock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { isSceneFault } from './failures.ts';
import type { EndedRender } from './job.ts';
import { OwnerSums } from './owner-sums.ts';
import { HOUR_MS, SlidingSum } from './sliding-sum.ts';

/**
 * Limits on what an owner's jobs cost besides credits: unpaid renders within a sliding hour (failed and canceled ones use
 * worker time), what is stored, and how often jobs are added.
 */
export interface BudgetOptions {
  /** Maximum failures per owner and hour that are caused by scenes; 0: unlimited. Default 300. */
  failuresPerHour: number;
  /**
   * Maximum seconds per owner and hour of renders that failed by their scenes, were canceled or ran out of credits;
   * 0: unlimited. Default 3,600. A canceled job counts a second at least.
   */
  unpaidSecondsPerHour: number;
  /** Maximum bytes of the sources, metadata and artifacts of an owner's jobs; 0: unlimited. Default 50 GiB. */
  storedBytes: number;
  /**
   * Maximum jobs that an owner adds per second on average, ten seconds' worth of them at once; 0: unlimited, which is the
   * default.
   */
  jobsPerSecond: number;
}

/** 300 failed renders and 3,600 unpaid seconds per owner and hour, and 50 GiB. */
export const DEFAULT_BUDGETS: BudgetOptions = {
  failuresPerHour: 300,
  unpaidSecondsPerHour: 3_600,
  storedBytes: 50 * 1024 ** 3,
  jobsPerSecond: 0,
};

type FailureLimits = Pick<BudgetOptions, 'failuresPerHour' | 'unpaidSecondsPerHour'>;

/** A canceled job takes no worker's time if it never began, but it was stored, queued and ended. */
const LEAST_CANCELED_MS = 1000;

/**
 * Counts each owner's failures within the last hour. Kept in memory, about 1 KB per owner with failures in that hour;
 * rebuilt from the stored jobs after a start.
 */
export class FailureBudgets {
  readonly #limits: FailureLimits;
  readonly #clock: Clock;
  readonly #spent = new OwnerSums(() => ({
    failures: new SlidingSum(HOUR_MS),
    /** In integer milliseconds, so sums are exact. */
    unpaidMs: new SlidingSum(HOUR_MS),
  }));

  constructor({ limits, clock }: { limits: FailureLimits; clock: Clock }) {
    this.#limits = limits;
    this.#clock = clock;
  }

  clear(): void {
    this.#spent.clear();
  }

  /** Counts a terminal job. Failures of the service, such as a renderer death or a full disk, are ignored. */
  note({ owner, failedBy, durationMs, completedAtMs }: EndedRender): void {
    if (failedBy === undefined || failedBy === 'service') return;
    const nowMs = this.#clock.now();
    const endedAtMs = completedAtMs ?? nowMs;
    const spent = this.#spent.for(owner, nowMs);
    if (isSceneFault(failedBy)) spent.failures.add(1, endedAtMs, nowMs);
    const leastMs = failedBy === 'cancel' ? LEAST_CANCELED_MS : 0;
    spent.unpaidMs.add(Math.max(leastMs, durationMs ?? 0), endedAtMs, nowMs);
  }

  /** Adds to an owner's unpaid time. */
  noteUnpaid(owner: string, durationMs: number): void {
    const nowMs = this.#clock.now();
    this.#spent.for(owner, nowMs).unpaidMs.add(durationMs, nowMs, nowMs);
  }

  /** True while the owner exceeds a budget. */
  isSpent(owner: string): boolean {
    return this.#waitMs(owner).some((waitMs) => waitMs > 0);
  }

  /** Error: `too_many_failures`, with `retryAfterMs`, while the owner exceeds a budget. */
  assertWithin(owner: string): void {
    const [failuresMs, unpaidMs] = this.#waitMs(owner);
    const retryAfterMs = Math.max(failuresMs, unpaidMs);
    if (retryAfterMs === 0) return;
    const { failuresPerHour, unpaidSecondsPerHour } = this.#limits;
    const spent =
      failuresMs === retryAfterMs
        ? `The scenes of this account failed ${failuresPerHour} times within an hour, which is the limit.`
        : `Renders of this account that failed or were canceled took ${unpaidSecondsPerHour} seconds within an hour, ` +
          'which is the limit.';
    const minutes = Math.ceil(retryAfterMs / 60_000);
    const message = `${spent} Try again in ${minutes} minute${minutes === 1 ? '' : 's'}.`;
    throw new ScenepressError('too_many_failures', message, { retryAfterMs });
  }

  /** Milliseconds until the owner's failures and unpaid seconds are below their limits; 0: below. */
  #waitMs(owner: string): [failures: number, unpaid: number] {
    const spent = this.#spent.get(owner);
    if (!spent) return [0, 0];
    const nowMs = this.#clock.now();
    const { failuresPerHour, unpaidSecondsPerHour } = this.#limits;
    return [
      failuresPerHour > 0 ? spent.failures.msUntilBelow(failuresPerHour, nowMs) : 0,
      unpaidSecondsPerHour > 0 ? spent.unpaidMs.msUntilBelow(unpaidSecondsPerHour * 1000, nowMs) : 0,
    ];
  }
}
