import assert from 'node:assert/strict';
import { ScenepressError } from '../base/errors.ts';
import type {
  Claim,
  ClaimRequest,
  LapsedQuery,
  Precedence,
  Queue,
  QueueCaps,
  QueuedOwner,
  QueueState,
  Wanted,
} from '../storage/queue/queue.ts';
import type { SqlDatabase, SqlTransaction } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';
import { ClaimRound, isIn, notIn } from './claim-jobs.ts';
import {
  countAdmitted,
  countPutBack,
  countRemoved,
  precedenceOf,
  queueState,
  queueTotals,
} from './owner-turns.ts';
import { claimOf, QUEUE, type QueueRow } from './row-formats.ts';

/**
 * The lock of transactions that change the turns of several owners: claims must not overtake each other, and
 * transactions that wait for each other's owners would end in a deadlock.
 */
const CLAIMS = 'claims';
const NOTHING: Wanted = { most: 0, mostOfOthers: 0 };

/**
 * The queue in an SQL database.
 *
 * In Postgres, too, instead of pg-boss: priorities that are given at the enqueue let an account with one waiting job after
 * another starve one with 100,000 (0 of 200 turns; here 100), and a limit by group made a fetch 17 times slower. The
 * figures are in `../inside.md`.
 */
export class SqlQueue implements Queue {
  readonly #database: SqlDatabase;
  readonly #onJob: (tx: SqlTransaction, row: object) => void;
  /** Workers of this process that have claimed jobs. */
  readonly #workers = new Set<string>();

  /** `onJob`: called with the rows of jobs that a transaction has locked. */
  constructor(database: SqlDatabase, onJob: (tx: SqlTransaction, row: object) => void) {
    this.#database = database;
    this.#onJob = onJob;
  }

  start(): void {
    this.#workers.clear();
  }

  async assertCapacity(tx: Transaction, owner: string, caps: QueueCaps | Promise<QueueCaps>): Promise<void> {
    const inside = this.#database.inside(tx);
    // Not the row in `turns`, which a new owner does not have.
    const [, { waiting: allWaiting, owners, ofOwner: waiting }, { maxQueued, maxQueuedPerOwner }] =
      await Promise.all([inside.lock(`jobs of ${owner}`), queueTotals(inside, owner), caps]);
    const share = Math.floor(maxQueued / (owners + (waiting === 0 ? 1 : 0)));
    const isFull = allWaiting >= maxQueued && waiting >= share;
    if (!isFull && waiting < maxQueuedPerOwner) return;
    const message =
      waiting < maxQueuedPerOwner
        ? 'The queue is full. Try again later.'
        : `This account has ${waiting === 1 ? '1 waiting job' : `${waiting} waiting jobs`} already; no more may wait. Try again when one has started.`;
    throw new ScenepressError('queue_full', message);
  }

  async admit(
    tx: Transaction,
    { jobId, owner, precedence }: { jobId: string; owner: string; precedence: Precedence },
  ): Promise<void> {
    const inside = this.#database.inside(tx);
    const waiting = { interruptions: 0, notBeforeMs: null, token: 0, worker: null, lapsesAtMs: null };
    inside.write(QUEUE.insert, ...QUEUE.row({ jobId, owner, ...waiting }));
    countAdmitted(inside, owner, precedence);
  }

  async claim(tx: Transaction, worker: string, request: ClaimRequest): Promise<Claim[]> {
    this.#workers.add(worker);
    const inside = this.#database.inside(tx);
    const { qualities, changed = [] } = request;
    const wanted = (await this.#mayHave(inside, qualities)) ? request.wanted : () => NOTHING;
    if (wanted().most === 0 && changed.length === 0) return [];
    const round = new ClaimRound(inside, worker, { ...request, wanted }, (row) => this.#onJob(inside, row));
    const [, claims] = await Promise.all([inside.lock(CLAIMS), round.take()]);
    return claims;
  }

  /**
   * Whether there may be jobs to claim. Looks before the lock that all claims of all processes need: a round of a worker
   * of some qualities looks at every owner while none has such a job.
   */
  async #mayHave(inside: SqlTransaction, qualities: readonly string[] | undefined): Promise<boolean> {
    if (!qualities || !this.#database.isShared) return true;
    const text = `SELECT 1 AS found FROM jobs WHERE phase = 'queued' AND ${isIn('quality', qualities)} LIMIT 1`;
    return (await inside.get(text, ...qualities)) !== undefined;
  }

  async renew(tx: Transaction, claims: Claim[], lapsesAtMs: number): Promise<Claim[]> {
    const inside = this.#database.inside(tx);
    const rows = await Promise.all(claims.map(({ jobId }) => this.#row(inside, jobId)));
    return claims.filter((claim, i) => {
      const row = rows[i];
      if (!row || !isHeldBy(row, claim)) return false;
      inside.write(QUEUE.update, ...QUEUE.changes({ ...row, lapsesAtMs }));
      return true;
    });
  }

  async holds(tx: Transaction, claim: Claim): Promise<boolean> {
    const row = await this.#row(this.#database.inside(tx), claim.jobId);
    return row !== undefined && isHeldBy(row, claim);
  }

  async putBack(
    tx: Transaction,
    jobId: string,
    { interruptions, notBeforeMs = null }: { interruptions: number; notBeforeMs?: number | null | undefined },
  ): Promise<void> {
    const inside = this.#database.inside(tx);
    const row = await this.#row(inside, jobId);
    assert(row && row.worker !== null, 'only a claimed job is put back');
    const waiting: QueueRow = { ...row, interruptions, notBeforeMs, worker: null, lapsesAtMs: null };
    inside.write(QUEUE.update, ...QUEUE.changes(waiting));
    countPutBack(inside, waiting);
  }

  async lock(tx: Transaction, jobId: string): Promise<void> {
    await this.#row(this.#database.inside(tx), jobId);
  }

  async remove(tx: Transaction, jobId: string): Promise<void> {
    const inside = this.#database.inside(tx);
    countRemoved(inside, jobId);
    inside.write('DELETE FROM queue WHERE job_id = ?', jobId);
  }

  async lapsed(tx: Transaction, { nowMs, most, except }: LapsedQuery): Promise<Claim[]> {
    // In an exclusive database, all other workers belonged to earlier processes and are dead.
    const alive = [...this.#workers];
    const isDead = this.#database.isShared ? '' : ` OR ${notIn('worker', alive)}`;
    const inside = this.#database.inside(tx);
    const locked = inside.lock(CLAIMS);
    // Claims that are locked are being renewed or ended.
    const found = inside.allUnlocked(
      `SELECT ${QUEUE.names} FROM queue WHERE worker IS NOT NULL AND (lapses_at_ms <= ?${isDead})
         AND ${notIn('job_id', except)} ORDER BY lapses_at_ms LIMIT ?`,
      Math.floor(nowMs),
      ...(this.#database.isShared ? [] : alive),
      ...except,
      most,
    );
    const [rows] = await Promise.all([found, locked]);
    return rows.map((row) => claimOf(QUEUE.record(row)));
  }

  async owners({ after, limit }: { after: string; limit: number }): Promise<QueuedOwner[]> {
    const rows = await this.#database.all<{ owner: string; precedence: number }>(
      'SELECT owner, precedence FROM turns WHERE owner > ? ORDER BY owner LIMIT ?',
      after,
      limit,
    );
    return rows.map(({ owner, precedence }) => ({ owner, ...precedenceOf(precedence) }));
  }

  state(): Promise<QueueState> {
    return queueState(this.#database);
  }

  async #row(inside: SqlTransaction, jobId: string): Promise<QueueRow | undefined> {
    const row = await inside.getForUpdate(QUEUE.byKey, jobId);
    return row && QUEUE.record(row);
  }
}

function isHeldBy({ worker, token }: QueueRow, claim: Claim): boolean {
  return worker !== null && token === claim.token;
}
