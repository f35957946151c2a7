import { ScenepressError } from '../../base/errors.ts';
import { isSceneFault } from '../../model/failures.ts';
import { firstIdAt } from '../../model/ids.ts';
import type { EndedRender } from '../../model/job.ts';
import type { Precedence } from '../../storage/queue/queue.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Clock } from '../../time/clock.ts';
import { Rates } from '../../time/rates.ts';
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
  /** Maximum seconds per owner and hour of checks and listings of scenes; 0: unlimited. Default 3,600. */
  checkSecondsPerHour: number;
  /** Maximum bytes of the sources, metadata and artifacts of an owner's jobs; 0: unlimited. Default 50 GiB. */
  storedBytes: number;
  /**
   * Maximum jobs that an owner adds per second on average, ten seconds' worth of them at once; 0: unlimited, which is the
   * default.
   */
  jobsPerSecond: number;
}

/** 300 failed renders, 3,600 unpaid seconds and 3,600 seconds of checks per owner and hour, and 50 GiB. */
export const DEFAULT_BUDGETS: BudgetOptions = {
  failuresPerHour: 300,
  unpaidSecondsPerHour: 3_600,
  checkSecondsPerHour: 3_600,
  storedBytes: 50 * 1024 ** 3,
  jobsPerSecond: 0,
};

/** How long a render affects the standing of its owner. */
const STANDING_MS = 24 * HOUR_MS;
/** Jobs that are counted again at a start: the newest. */
const MOST_RESTORED = 10_000;
/** The jobs of so many seconds may be added at once. */
const BURST_SECONDS = 10;
/** A canceled job takes no worker's time if it never began, but it was stored, queued and ended. */
const LEAST_CANCELED_MS = 1000;

/**
 * Decides whose jobs are accepted, and whose come first, from the renders of each owner that ended: its budgets of
 * failures and unpaid time within the last hour, and its standing. An owner is in good standing if it had a completed render
 * within the last 24 hours, and its completed renders took at least as long as those that failed by their scenes, were
 * canceled or still run. Kept in memory, about 2 KB per owner with a job that ended in that time; rebuilt from the stored
 * jobs after a start.
 */
export class Fairness {
  readonly #storage: Pick<Storage, 'recentEnds'>;
  readonly #clock: Clock;
  readonly #budgets: Omit<BudgetOptions, 'storedBytes'>;
  /** Times in integer milliseconds, so sums are exact. */
  readonly #sums = new OwnerSums(() => ({
    failures: new SlidingSum(HOUR_MS),
    unpaidMs: new SlidingSum(HOUR_MS),
    checkMs: new SlidingSum(HOUR_MS),
    completedMs: new SlidingSum(STANDING_MS),
    failedMs: new SlidingSum(STANDING_MS),
  }));
  /** Undefined: any. */
  readonly #added: Rates | undefined;

  constructor({
    storage,
    clock,
    budgets,
  }: {
    storage: Pick<Storage, 'recentEnds'>;
    clock: Clock;
    budgets: Omit<BudgetOptions, 'storedBytes'>;
  }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#budgets = budgets;
    const { jobsPerSecond: perSecond } = budgets;
    const burst = Math.max(1, perSecond * BURST_SECONDS);
    const isLimited = perSecond > 0 && Number.isFinite(perSecond);
    this.#added = isLimited ? new Rates({ perSecond, burst, clock }) : undefined;
  }

  /** Counts the jobs that ended before this process started. */
  async restore(): Promise<void> {
    this.#sums.clear();
    const after = firstIdAt(this.#clock.now() - STANDING_MS);
    for (const job of await this.#storage.recentEnds({ after, limit: MOST_RESTORED })) this.note(job);
  }

  /** Counts a terminal job. Failures of the service, such as a renderer death or a full disk, are ignored. */
  note({ owner, phase, failedBy, durationMs, completedAtMs }: EndedRender): void {
    const nowMs = this.#clock.now();
    if (phase === 'completed' && completedAtMs !== null && durationMs !== null)
      this.#sums.for(owner, nowMs).completedMs.add(atLeast(1, durationMs), completedAtMs, nowMs);
    if (phase !== 'failed' || failedBy === undefined || failedBy === 'service') return;
    const endedAtMs = completedAtMs ?? nowMs;
    const sums = this.#sums.for(owner, nowMs);
    if (isSceneFault(failedBy)) sums.failures.add(1, endedAtMs, nowMs);
    sums.unpaidMs.add(atLeast(failedBy === 'cancel' ? LEAST_CANCELED_MS : 0, durationMs), endedAtMs, nowMs);
    if (durationMs !== null) sums.failedMs.add(atLeast(1, durationMs), endedAtMs, nowMs);
  }

  /** Adds to an owner's time of checks. */
  noteCheck(owner: string, durationMs: number): void {
    const nowMs = this.#clock.now();
    this.#sums.for(owner, nowMs).checkMs.add(durationMs, nowMs, nowMs);
  }

  /** Error: `too_many_requests`, with `retryAfterMs`, while the checks of an owner exceed their budget. */
  assertMayCheck(owner: string): void {
    const { checkSecondsPerHour } = this.#budgets;
    const spent = checkSecondsPerHour > 0 ? this.#sums.get(owner)?.checkMs : undefined;
    const retryAfterMs = spent?.msUntilBelow(checkSecondsPerHour * 1000, this.#clock.now()) ?? 0;
    if (retryAfterMs === 0) return;
    const message =
      `Checks of this account took ${checkSecondsPerHour} seconds within an hour, which is the limit. ` +
      `Try again in ${inMinutes(retryAfterMs)}.`;
    throw new ScenepressError('too_many_requests', message, { retryAfterMs });
  }

  /** Counts jobs that an owner adds at once. Error: `too_many_requests`, with `retryAfterMs`, beyond the rate. */
  assertWithinRate(owner: string, count = 1): void {
    const retryAfterMs = this.#added?.waitMs(owner, count) ?? 0;
    if (retryAfterMs > 0) {
      const seconds = Math.ceil(retryAfterMs / 1000);
      const message = `This account has added more jobs within a short time than it may. Try again in ${seconds} s.`;
      throw new ScenepressError('too_many_requests', message, { retryAfterMs });
    }
    this.#added?.add(owner, count);
  }

  /** `runningMs`: how long the running renders of the owner have taken so far; they may fail. */
  precedenceOf(owner: string, runningMs = 0): Precedence {
    return {
      // Accepted jobs are still rendered, but after those of other owners.
      yields: this.#waitMs(owner).some((waitMs) => waitMs > 0),
      inGoodStanding: this.#isInGoodStanding(owner, runningMs),
    };
  }

  /** Error: `too_many_failures`, with `retryAfterMs`, while the owner exceeds a budget. */
  assertWithinBudget(owner: string): void {
    const [failuresMs, unpaidMs] = this.#waitMs(owner);
    const retryAfterMs = Math.max(failuresMs, unpaidMs);
    if (retryAfterMs === 0) return;
    const { failuresPerHour, unpaidSecondsPerHour } = this.#budgets;
    const spent =
      failuresMs === retryAfterMs
        ? `The scenes of this account failed ${failuresPerHour} times within an hour, which is the limit.`
        : `Renders of this account that failed or were canceled took ${unpaidSecondsPerHour} seconds within an hour, ` +
          'which is the limit.';
    const message = `${spent} Try again in ${inMinutes(retryAfterMs)}.`;
    throw new ScenepressError('too_many_failures', message, { retryAfterMs });
  }

  /** Milliseconds until the owner's failures and unpaid seconds are below their limits; 0: below. */
  #waitMs(owner: string): [failures: number, unpaid: number] {
    const spent = this.#sums.get(owner);
    if (!spent) return [0, 0];
    const nowMs = this.#clock.now();
    const { failuresPerHour, unpaidSecondsPerHour } = this.#budgets;
    return [
      failuresPerHour > 0 ? spent.failures.msUntilBelow(failuresPerHour, nowMs) : 0,
      unpaidSecondsPerHour > 0 ? spent.unpaidMs.msUntilBelow(unpaidSecondsPerHour * 1000, nowMs) : 0,
    ];
  }

  #isInGoodStanding(owner: string, runningMs: number): boolean {
    const sums = this.#sums.get(owner);
    if (!sums) return false;
    const nowMs = this.#clock.now();
    const completedMs = sums.completedMs.sum(nowMs);
    return completedMs > 0 && completedMs >= sums.failedMs.sum(nowMs) + runningMs;
  }
}

function inMinutes(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  return `${minutes} minute${minutes === 1 ? '' : 's'}`;
}

/** A render shorter than a millisecond counts as one. */
function atLeast(leastMs: number, durationMs: number | null): number {
  return Math.max(leastMs, durationMs ?? 0);
}
