import type { Queue } from '../queue/queue.ts';
import type { Owners } from './owners.ts';

/** Owners who are looked at together. */
const PAGE = 200;

/**
 * Which owners' precedence is another than the queue knows. It changes when a job of theirs ends, and as hours pass. The
 * queue finds out by itself only about owners whose turn it would be.
 */
export class Precedences {
  readonly #queue: Queue;
  readonly #owners: Pick<Owners, 'precedenceOf'>;
  readonly #changed = new Set<string>();
  #lookedAt = '';

  constructor(queue: Queue, owners: Pick<Owners, 'precedenceOf'>) {
    this.#queue = queue;
    this.#owners = owners;
  }

  note(owner: string): void {
    this.#changed.add(owner);
  }

  /** Those to tell the queue of. */
  takeChanged(): string[] {
    const owners = [...this.#changed];
    this.#changed.clear();
    return owners;
  }

  /** Looks at the next of all owners. */
  async look(): Promise<void> {
    const owners = await this.#queue.owners({ after: this.#lookedAt, limit: PAGE });
    this.#lookedAt = owners.length < PAGE ? '' : (owners.at(-1)?.owner ?? '');
    for (const { owner, yields, inGoodStanding } of owners) {
      const now = this.#owners.precedenceOf(owner);
      if (now.yields !== yields || now.inGoodStanding !== inGoodStanding) this.note(owner);
    }
  }
}
