import assert from 'node:assert/strict';
import type { Precedence, QueueState } from '../storage/queue/queue.ts';
import type { SqlReader, SqlTransaction } from '../storage/sql.ts';
import type { QueueRow } from './row-formats.ts';

// The rows of `turns`, one for each owner with jobs in the queue. Every statement that adds, changes or removes a row of
// `queue` comes with one of these, in the same transaction.

const ADMITTED = `INSERT INTO turns (owner, turn, precedence, waiting, ready, running)
  VALUES (?, coalesce((SELECT turn FROM turns ORDER BY turn DESC LIMIT 1), 0) + 1, ?, 1, 1, 0)
  ON CONFLICT (owner) DO UPDATE
    SET precedence = excluded.precedence, waiting = turns.waiting + 1, ready = turns.ready + 1`;
/** Moves the owner behind all others. */
const CLAIMED = `UPDATE turns SET waiting = waiting - 1, ready = ready - ?, running = running + 1,
    turn = (SELECT turn FROM turns ORDER BY turn DESC LIMIT 1) + 1
  WHERE owner = ?`;
const PUT_BACK_LATER = 'UPDATE turns SET waiting = waiting + 1, running = running - 1 WHERE owner = ?';
/** Moves the owner before all others. */
const PUT_BACK = `UPDATE turns SET waiting = waiting + 1, ready = ready + 1, running = running - 1,
    turn = (SELECT turn FROM turns ORDER BY turn LIMIT 1) - 1
  WHERE owner = ?`;
const REMOVING = `UPDATE turns SET waiting = turns.waiting - q.waiting, ready = turns.ready - q.ready,
    running = turns.running - 1 + q.waiting
  FROM (SELECT owner, CASE WHEN worker IS NULL THEN 1 ELSE 0 END AS waiting,
      CASE WHEN worker IS NULL AND not_before_ms IS NULL THEN 1 ELSE 0 END AS ready
    FROM queue WHERE job_id = ?) AS q
  WHERE turns.owner = q.owner`;
const REMOVE_LAST = `DELETE FROM turns
  WHERE owner = (SELECT owner FROM queue WHERE job_id = ?) AND waiting = 0 AND running = 0`;
const RECORD_RANK = 'UPDATE turns SET precedence = ? WHERE owner = ? AND precedence <> ?';

/** Counts all rows of `queue`, while there are none of `turns`. */
export const COUNT_QUEUE = `INSERT INTO turns (owner, turn, precedence, waiting, ready, running)
  SELECT owner, row_number() OVER (ORDER BY min(job_id)), 0,
    sum(CASE WHEN worker IS NULL THEN 1 ELSE 0 END),
    sum(CASE WHEN worker IS NULL AND not_before_ms IS NULL THEN 1 ELSE 0 END),
    sum(CASE WHEN worker IS NULL THEN 0 ELSE 1 END)
  FROM queue GROUP BY owner`;

/** Jobs in the queue, and owners with waiting ones. Reads a row for each owner with jobs, which are few. */
const TOTALS = `coalesce(sum(waiting), 0) AS waiting, coalesce(sum(running), 0) AS running,
  coalesce(sum(CASE WHEN waiting > 0 THEN 1 ELSE 0 END), 0) AS owners FROM turns`;
const STATE = `SELECT (SELECT job_id FROM queue WHERE worker IS NULL ORDER BY job_id LIMIT 1) AS oldest, ${TOTALS}`;
const WAITING = `SELECT coalesce(sum(CASE WHEN owner = ? THEN waiting ELSE 0 END), 0) AS "ofOwner", ${TOTALS}`;

export async function queueState(reader: SqlReader): Promise<QueueState> {
  const state = await reader.get<QueueState>(STATE);
  assert(state, 'one row');
  return { ...state };
}

/** The totals, and the waiting jobs of one owner. */
export async function queueTotals(
  reader: SqlReader,
  owner: string,
): Promise<Omit<QueueState, 'oldest'> & { ofOwner: number }> {
  const totals = await reader.get<Omit<QueueState, 'oldest'> & { ofOwner: number }>(WAITING, owner);
  assert(totals, 'one row');
  return totals;
}

/** Counts a job that was added. */
export function countAdmitted(tx: SqlTransaction, owner: string, precedence: Precedence): void {
  tx.write(ADMITTED, owner, rankOf(precedence));
}

/** Counts a job that a worker has claimed; `row`: as it was before. */
export function countClaimed(tx: SqlTransaction, { owner, notBeforeMs }: QueueRow): void {
  tx.write(CLAIMED, notBeforeMs === null ? 1 : 0, owner);
}

/** Counts a job that waits again; `row`: as it is now. */
export function countPutBack(tx: SqlTransaction, { owner, notBeforeMs }: QueueRow): void {
  tx.write(notBeforeMs === null ? PUT_BACK : PUT_BACK_LATER, owner);
}

/** Counts a job that is removed next. */
export function countRemoved(tx: SqlTransaction, jobId: string): void {
  tx.write(REMOVING, jobId);
  tx.write(REMOVE_LAST, jobId);
}

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
export class OwnerRanks {
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
    if (!isRecorded) this.#tx.write(RECORD_RANK, rank, owner, rank);
    return rank;
  }

  isInGoodStanding(owner: string): boolean {
    return precedenceOf(this.of(owner)).inGoodStanding;
  }
}
