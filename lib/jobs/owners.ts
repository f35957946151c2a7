import type { Clock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { firstIdAt } from '../ids.ts';
import type { Precedence } from '../queue/queue.ts';
import { Rates } from '../rates.ts';
import type { Storage } from '../storage/storage.ts';
import { type BudgetOptions, FailureBudgets } from './failure-budgets.ts';
import type { EndedRender } from './job.ts';
import { STANDING_MS, Standing } from './standing.ts';

/** Jobs that are counted again at a start: the newest. */
const MOST_RESTORED = 10_000;
/** The jobs of so many seconds may be added at once. */
const BURST_SECONDS = 10;

/** Derives the failure budgets and the precedence of owners from their ended jobs, and counts the jobs that they add. */
export class Owners {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #budgets: FailureBudgets;
  readonly #standing: Standing;
  /** Undefined: any. */
  readonly #added: Rates | undefined;

  constructor({
    storage,
    clock,
    budgets,
  }: { storage: Storage; clock: Clock; budgets: Omit<BudgetOptions, 'storedBytes'> }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#budgets = new FailureBudgets({ limits: budgets, clock });
    this.#standing = new Standing(clock);
    const { jobsPerSecond: perSecond } = budgets;
    const burst = Math.max(1, perSecond * BURST_SECONDS);
    const isLimited = perSecond > 0 && Number.isFinite(perSecond);
    this.#added = isLimited ? new Rates({ perSecond, burst, clock }) : undefined;
  }

  /** Counts the jobs that ended before this process started. */
  async restore(): Promise<void> {
    this.#budgets.clear();
    this.#standing.clear();
    const after = firstIdAt(this.#clock.now() - STANDING_MS);
    for (const job of await this.#storage.recentEnds({ after, limit: MOST_RESTORED })) this.note(job);
  }

  /** Counts a terminal job. */
  note(job: EndedRender): void {
    this.#budgets.note(job);
    this.#standing.note(job);
  }

  /** As {@link FailureBudgets.noteUnpaid}. */
  noteUnpaid(owner: string, durationMs: number): void {
    this.#budgets.noteUnpaid(owner, durationMs);
  }

  /** Error: `too_many_failures` while the owner exceeds a budget. */
  assertWithinBudget(owner: string): void {
    this.#budgets.assertWithin(owner);
  }

  /** Counts a job that an owner adds. Error: `too_many_requests`, with `retryAfterMs`, beyond the rate. */
  assertWithinRate(owner: string): void {
    const retryAfterMs = this.#added?.waitMs(owner) ?? 0;
    if (retryAfterMs > 0) {
      const seconds = Math.ceil(retryAfterMs / 1000);
      const message = `This account has added more jobs within a short time than it may. Try again in ${seconds} s.`;
      throw new ScenepressError('too_many_requests', message, { retryAfterMs });
    }
    this.#added?.add(owner);
  }

  /** `runningMs`: how long the running renders of the owner have taken so far. */
  precedenceOf(owner: string, runningMs = 0): Precedence {
    return {
      // Accepted jobs are still rendered, but after those of other owners.
      yields: this.#budgets.isSpent(owner),
      inGoodStanding: this.#standing.isGood(owner, runningMs),
    };
  }
}
