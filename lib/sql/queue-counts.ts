import type { SqlTransaction } from '../storage/sql.ts';

const COUNTS = `SELECT q.waiting AS all_waiting, q.owners, t.waiting, t.precedence
  FROM queue_totals AS q LEFT JOIN turns AS t ON t.owner = ?`;
/** That of a new row in `turns`. */
const DEFAULT_RANK = 0;

/** As they are in the transaction. */
export interface Counts {
  /** Waiting jobs of all owners. */
  allWaiting: number;
  /** Owners with waiting jobs. */
  owners: number;
  /** Waiting jobs of the owner. */
  waiting: number;
  /** The owner's, as recorded. */
  rank: number;
}

interface Known {
  totals: { allWaiting: number; owners: number };
  byOwner: Map<string, { waiting: number; rank: number }>;
}

/**
 * The counts of waiting jobs. Transactions of a group read them once, as long as they only admit jobs: in a busy
 * service, a group adds dozens.
 */
export class QueueCounts {
  readonly #known = new WeakMap<SqlTransaction['group'], Known>();

  async of(inside: SqlTransaction, owner: string): Promise<Counts> {
    const known = this.#known.get(inside.group);
    const own = known?.byOwner.get(owner);
    if (known && own) return { ...known.totals, ...own };
    const row = await inside.get<{
      all_waiting: number;
      owners: number;
      waiting: number | null;
      precedence: number | null;
    }>(COUNTS, owner);
    const totals = { allWaiting: row?.all_waiting ?? 0, owners: row?.owners ?? 0 };
    const ofOwner = { waiting: row?.waiting ?? 0, rank: row?.precedence ?? DEFAULT_RANK };
    const byOwner = this.#known.get(inside.group)?.byOwner ?? new Map<string, typeof ofOwner>();
    this.#known.set(inside.group, { totals, byOwner: byOwner.set(owner, ofOwner) });
    return { ...totals, ...ofOwner };
  }

  /** Counts another waiting job. Returns the rank that is recorded for its owner. */
  admitted(inside: SqlTransaction, owner: string, rank: number): number {
    const known = this.#known.get(inside.group);
    const own = known?.byOwner.get(owner);
    if (!known || !own) {
      this.drop(inside);
      return DEFAULT_RANK;
    }
    known.totals.allWaiting += 1;
    if (own.waiting === 0) known.totals.owners += 1;
    own.waiting += 1;
    const recorded = own.rank;
    own.rank = rank;
    return recorded;
  }

  /** To be called before the queue is changed in another way. */
  drop(inside: SqlTransaction): void {
    this.#known.delete(inside.group);
  }
}
