import { timeOfId } from '../ids.ts';
import type { Queue, QueueState } from '../queue/queue.ts';

/** What waits, as the queue said when it was last asked. */
export class Backlog {
  readonly #queue: Queue;
  #state: QueueState = { waiting: 0, running: 0, owners: 0, oldest: null };
  #refreshing: Promise<void> | undefined;
  #isOld = false;

  constructor(queue: Queue) {
    this.#queue = queue;
  }

  get waiting(): number {
    return this.#state.waiting;
  }

  /** When the job that has waited longest was made, in epoch milliseconds; null when none waits. */
  get oldestMs(): number | null {
    const { oldest } = this.#state;
    return oldest === null ? null : timeOfId(oldest);
  }

  /** Resolves when it knows what was so at the call, or later. */
  refresh(): Promise<void> {
    this.#isOld = true;
    this.#refreshing ??= this.#refresh();
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    try {
      while (this.#isOld) {
        this.#isOld = false;
        this.#state = await this.#queue.state();
      }
    } finally {
      this.#refreshing = undefined;
    }
  }
}
