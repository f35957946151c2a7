import type { Clock } from '../clock.ts';
import { firstIdAt } from '../ids.ts';
import type { Precedence } from '../queue/queue.ts';
import type { EndedRender, Storage } from '../storage/storage.ts';
import { type BudgetOptions, FailureBudgets } from './failure-budgets.ts';
import { STANDING_MS, Standing } from './standing.ts';

/** Jobs that are counted again at a start: the newest. */
const MOST_RESTORED = 10_000;

/** What owners' jobs that ended say about their next ones: how much more of them may fail, and whose go first. */
export class Owners {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #budgets: FailureBudgets;
  readonly #standing: Standing;

  constructor({ storage, clock, budgets }: { storage: Storage; clock: Clock; budgets: BudgetOptions }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#budgets = new FailureBudgets({ limits: budgets, clock });
    this.#standing = new Standing(clock);
  }

  /** Counts the jobs that ended before this process started. */
  async restore(): Promise<void> {
    this.#budgets.clear();
    this.#standing.clear();
    const after = firstIdAt(this.#clock.now() - STANDING_MS);
    for (const job of await this.#storage.recentEnds({ after, limit: MOST_RESTORED })) this.note(job);
  }

  /** Counts a job that is over. */
  note(job: EndedRender): void {
    this.#budgets.note(job);
    this.#standing.note(job);
  }

  /** Error: `too_many_failures` when no further job of this owner is accepted for now. */
  assertWithinBudget(owner: string): void {
    this.#budgets.assertWithin(owner);
  }

  precedenceOf(owner: string): Precedence {
    return {
      // Accepted jobs are rendered, but after those of owners who pay.
      yields: this.#budgets.isSpent(owner),
      inGoodStanding: this.#standing.isGood(owner),
    };
  }
}
