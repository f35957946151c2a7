import type { Precedence } from '../queue/queue.ts';
import type { SqlTransaction } from '../storage/sql.ts';

const RECORD = 'UPDATE turns SET precedence = ? WHERE owner = ? AND precedence <> ?';

/**
 * The stored form of a precedence. Owners that yield come after all others; within both groups, owners of either
 * standing take turns together.
 */
export function rankOf({ yields, inGoodStanding }: Precedence): number {
  return (yields ? 2 : 0) + (inGoodStanding ? 0 : 1);
}

export function precedenceOf(rank: number): Precedence {
  return { yields: rank >= 2, inGoodStanding: rank % 2 === 0 };
}

/** The ranks of owners in a round of claims. Each is computed once, and recorded in the owner's row. */
export class Ranks {
  readonly #tx: SqlTransaction;
  readonly #precedenceOf: (owner: string) => Precedence;
  readonly #known = new Map<string, number>();

  constructor(tx: SqlTransaction, precedenceOf: (owner: string) => Precedence) {
    this.#tx = tx;
    this.#precedenceOf = precedenceOf;
  }

  /**
   * The owner's rank. `recorded`: as just read; a wrong one is corrected each time, because another process may record
   * its own after a correction that found no row to lock.
   */
  of(owner: string, recorded?: number): number {
    const known = this.#known.get(owner);
    const rank = known ?? rankOf(this.#precedenceOf(owner));
    this.#known.set(owner, rank);
    const isRecorded = recorded === undefined ? known !== undefined : recorded === rank;
    if (!isRecorded) this.#tx.write(RECORD, rank, owner, rank);
    return rank;
  }

  isInGoodStanding(owner: string): boolean {
    return precedenceOf(this.of(owner)).inGoodStanding;
  }
}
