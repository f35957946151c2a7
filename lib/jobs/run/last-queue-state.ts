import { timeOfId } from '../../model/ids.ts';
import type { Queue, QueueState } from '../../storage/queue/queue.ts';

/** The state of the queue as of the last refresh. */
export class LastQueueState {
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

  /** Running jobs of all processes. */
  get running(): number {
    return this.#state.running;
  }

  /** Creation time of the oldest queued job, in epoch milliseconds; null when no job is queued. */
  get oldestMs(): number | null {
    const { oldest } = this.#state;
    return oldest === null ? null : timeOfId(oldest);
  }

  /** Resolves when the state is at least as recent as the call. */
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
