import type { Claim, ClaimRequest } from '../storage/queue/queue.ts';
import { LONGEST_HOLD_MS } from '../storage/queue/suspects.ts';
import type { SqlTransaction, SqlValue } from '../storage/sql.ts';
import { isIn, notIn } from './claim-jobs.ts';
import { countClaimed, OwnerRanks } from './owner-turns.ts';
import { claimOf, QUEUE, type QueueRow } from './row-formats.ts';

/** Owners that are passed over, because other transactions have locked their jobs. */
const MOST_MISSES = 100;

/**
 * Assigns waiting jobs of some qualities to a worker, in one transaction. Owners take turns as with all qualities; those
 * without such a job are passed over, so the cost grows with the number of owners before the first that has one.
 */
export class QualityRound {
  readonly #tx: SqlTransaction;
  readonly #worker: string;
  readonly #request: ClaimRequest;
  readonly #qualities: readonly string[];
  readonly #ranks: OwnerRanks;
  /** Owners whose next job another transaction has locked, to remove or to read it. */
  readonly #missed: string[] = [];
  readonly #mostRunning: number;
  readonly #most: number;
  #othersLeft: number;

  constructor(tx: SqlTransaction, worker: string, request: ClaimRequest, qualities: readonly string[]) {
    this.#tx = tx;
    this.#worker = worker;
    this.#request = request;
    this.#ranks = new OwnerRanks(tx, request.precedenceOf);
    this.#qualities = qualities;
    this.#mostRunning = Math.min(request.maxRunningPerOwner, Number.MAX_SAFE_INTEGER);
    const { most, mostOfOthers } = request.wanted();
    this.#most = most;
    this.#othersLeft = mostOfOthers;
  }

  async take(): Promise<Claim[]> {
    const { maySuspect, changed = [] } = this.#request;
    for (const owner of changed) this.#ranks.of(owner);
    const claims: Claim[] = [];
    if (maySuspect && this.#most > 0) {
      const suspect = await this.#dueSuspect();
      if (suspect) claims.push(await this.#give(suspect));
    }
    while (claims.length < this.#most && this.#missed.length < MOST_MISSES) {
      const owner = await this.#nextOwner();
      if (owner === undefined) break;
      const first = await this.#firstOf(owner);
      if (first) claims.push(await this.#give(first));
      else this.#missed.push(owner);
    }
    return claims;
  }

  async #dueSuspect(): Promise<QueueRow | undefined> {
    const nowMs = Math.floor((await this.#request.lease).nowMs);
    const [row] = await this.#tx.allUnlocked(
      `SELECT ${QUEUE.names} FROM queue WHERE worker IS NULL AND not_before_ms IS NOT NULL
         AND (not_before_ms <= ? OR not_before_ms > ?)
         AND EXISTS (SELECT 1 FROM jobs WHERE jobs.job_id = queue.job_id AND ${isIn('quality', this.#qualities)})
         AND EXISTS (SELECT 1 FROM turns WHERE turns.owner = queue.owner AND running < ?${this.#standing})
       ORDER BY interruptions, job_id LIMIT 1`,
      nowMs,
      nowMs + LONGEST_HOLD_MS,
      ...this.#qualities,
      this.#mostRunning,
    );
    return row && QUEUE.record(row);
  }

  async #nextOwner(): Promise<string | undefined> {
    for (;;) {
      const next = await this.#tx.get<{ owner: string; precedence: number }>(
        `SELECT owner, precedence FROM turns WHERE is_ready = 1 AND running < ?${this.#standing}
           AND ${notIn('owner', this.#missed)}
           AND EXISTS (SELECT 1 FROM (${this.#jobsOf('turns.owner')}) AS firsts)
         ORDER BY precedence / 2, turn LIMIT 1`,
        this.#mostRunning,
        ...this.#missed,
        ...this.#qualities,
      );
      if (!next) return undefined;
      if (this.#ranks.of(next.owner, next.precedence) === next.precedence) return next.owner;
      // The recorded rank was outdated and is corrected: select again.
    }
  }

  async #firstOf(owner: string): Promise<QueueRow | undefined> {
    const [row] = await this.#tx.allUnlocked(
      `SELECT ${QUEUE.names} FROM queue WHERE worker IS NULL AND not_before_ms IS NULL
         AND job_id IN (${this.#jobsOf('?')} ORDER BY jobs.job_id LIMIT 1) LIMIT 1`,
      owner as SqlValue,
      ...this.#qualities,
    );
    return row && QUEUE.record(row);
  }

  /** The ids of the jobs of an owner that may start. */
  #jobsOf(owner: string): string {
    return `SELECT jobs.job_id FROM jobs WHERE jobs.owner = ${owner} AND jobs.phase = 'queued' AND ${isIn('jobs.quality', this.#qualities)}
      AND EXISTS (SELECT 1 FROM queue AS q WHERE q.job_id = jobs.job_id AND q.worker IS NULL AND q.not_before_ms IS NULL)`;
  }

  get #standing(): string {
    return this.#othersLeft > 0 ? '' : ' AND precedence IN (0, 2)';
  }

  /** Claims the job. Its owner moves behind all others. */
  async #give(row: QueueRow): Promise<Claim> {
    const { lapsesAtMs } = await this.#request.lease;
    const claimed = { ...row, notBeforeMs: null, token: row.token + 1, worker: this.#worker, lapsesAtMs };
    this.#tx.write(QUEUE.update, ...QUEUE.changes(claimed));
    countClaimed(this.#tx, row);
    if (!this.#ranks.isInGoodStanding(row.owner)) this.#othersLeft -= 1;
    return claimOf(claimed);
  }
}
