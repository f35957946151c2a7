import type { Queue } from '../../storage/queue/queue.ts';
import type { Fairness } from './fairness.ts';

/** Owners checked per query. */
const PAGE = 200;

/**
 * Tracks owners whose precedence differs from the queue's record. It changes when their jobs end, and over time. The
 * queue itself only checks owners whose turn it is.
 */
export class Precedences {
  readonly #queue: Queue;
  readonly #fairness: Pick<Fairness, 'precedenceOf'>;
  readonly #changed = new Set<string>();
  #lookedAt = '';

  constructor(queue: Queue, fairness: Pick<Fairness, 'precedenceOf'>) {
    this.#queue = queue;
    this.#fairness = fairness;
  }

  note(owner: string): void {
    this.#changed.add(owner);
  }

  /** Returns, and clears, the changed owners. */
  takeChanged(): string[] {
    const owners = [...this.#changed];
    this.#changed.clear();
    return owners;
  }

  /** Checks the next page of owners. */
  async look(): Promise<void> {
    const owners = await this.#queue.owners({ after: this.#lookedAt, limit: PAGE });
    // After the last page, from the start again.
    this.#lookedAt = owners[PAGE - 1]?.owner ?? '';
    for (const { owner, yields, inGoodStanding } of owners) {
      const now = this.#fairness.precedenceOf(owner);
      if (now.yields !== yields || now.inGoodStanding !== inGoodStanding) this.note(owner);
    }
  }
}
