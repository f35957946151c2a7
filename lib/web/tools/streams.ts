import { ScenepressError } from '../../base/errors.ts';

/** How many waits and streams of events one account may have open at a server. */
const MOST_OF_OWNER = 200;
const TRY_AGAIN_MS = 5_000;

/** Counts what is kept open for accounts. */
export class Streams {
  readonly #open = new Map<string, number>();

  /** Takes a place for an owner; returns what gives it back, once. Error: `too_many_requests`. */
  take(owner: string): () => void {
    const count = this.#open.get(owner) ?? 0;
    if (count >= MOST_OF_OWNER)
      throw new ScenepressError(
        'too_many_requests',
        `This account has ${MOST_OF_OWNER} waits and streams of events open already. Close some first.`,
        { retryAfterMs: TRY_AGAIN_MS },
      );
    this.#open.set(owner, count + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#open.get(owner) ?? 1) - 1;
      if (left > 0) this.#open.set(owner, left);
      else this.#open.delete(owner);
    };
  }
}
