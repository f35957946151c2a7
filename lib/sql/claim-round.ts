import assert from 'node:assert/strict';
import type { Claim, ClaimRequest, Precedence } from '../queue/queue.ts';
import { LONGEST_HOLD_MS } from '../queue/suspects.ts';
import type { SqlTransaction } from '../storage/sql.ts';
import { claimOf, QUEUE, type QueueRow } from './tables.ts';

/** Due suspects checked per round for one whose owner may have a turn. */
const SUSPECTS_LOOKED_AT = 50;
/** How often a round finds an owner without the job that it is counted to have, until the counts are wrong. */
const MOST_MISSES = 100;
const TURNS = 'SELECT ready, running FROM turns WHERE owner = ?';

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

const NEXT = nextOwner([0, 1, 2, 3]);
const NEXT_IN_GOOD_STANDING = nextOwner([0, 2]);

/** Selects the next owner of each rank, with one index lookup each, and then the first of these. */
function nextOwner(ranks: number[]): string {
  const each = ranks.map(
    (rank) =>
      `SELECT * FROM (SELECT owner, precedence, turn FROM turns
         WHERE precedence = ${rank} AND ready > 0 AND running < ? ORDER BY turn LIMIT 1) AS first`,
  );
  return `SELECT owner, precedence FROM (${each.join(' UNION ALL ')}) AS firsts ORDER BY precedence / 2, turn LIMIT 1`;
}

/** Assigns waiting jobs to a worker, in one transaction. */
export class ClaimRound {
  readonly #tx: SqlTransaction;
  readonly #worker: string;
  readonly #request: ClaimRequest;
  /** Ranks by owner; each is computed once. */
  readonly #ranks = new Map<string, number>();
  readonly #mostRunning: number;
  #othersLeft: number;
  #misses = 0;

  constructor(tx: SqlTransaction, worker: string, request: ClaimRequest) {
    this.#tx = tx;
    this.#worker = worker;
    this.#request = request;
    this.#mostRunning = Math.min(request.maxRunningPerOwner, Number.MAX_SAFE_INTEGER);
    this.#othersLeft = request.mostOfOthers;
  }

  async take(): Promise<Claim[]> {
    const { most, maySuspect, changed = [] } = this.#request;
    for (const owner of changed) await this.#rank(owner);
    const claims: Claim[] = [];
    if (maySuspect && most > 0) {
      const suspect = await this.#dueSuspect();
      if (suspect) claims.push(await this.#give(suspect));
    }
    while (claims.length < most) {
      const owner = await this.#nextOwner();
      if (owner === undefined) break;
      const first = await this.#firstOf(owner);
      if (first) claims.push(await this.#give(first));
    }
    return claims;
  }

  /** The due suspect with the fewest interruptions, which is the least likely cause. */
  async #dueSuspect(): Promise<QueueRow | undefined> {
    const nowMs = Math.floor(this.#request.nowMs);
    const rows = await this.#tx.all(
      `SELECT ${QUEUE.names} FROM queue WHERE worker IS NULL AND not_before_ms IS NOT NULL
         AND (not_before_ms <= ? OR not_before_ms > ?) ORDER BY interruptions, job_id LIMIT ${SUSPECTS_LOOKED_AT}`,
      nowMs,
      nowMs + LONGEST_HOLD_MS,
    );
    for (const row of rows) {
      const suspect = QUEUE.record(row);
      if (!(await this.#mayHaveTurn(suspect.owner))) continue;
      const locked = await this.#tx.getUnlocked(QUEUE.byKey, suspect.jobId);
      if (locked) return QUEUE.record(locked);
    }
    return undefined;
  }

  async #mayHaveTurn(owner: string): Promise<boolean> {
    const turns = await this.#tx.get<{ running: number }>(TURNS, owner);
    if ((turns?.running ?? 0) >= this.#mostRunning) return false;
    return this.#othersLeft > 0 || precedenceOf(await this.#rank(owner)).inGoodStanding;
  }

  async #nextOwner(): Promise<string | undefined> {
    for (;;) {
      const ranks = this.#othersLeft > 0 ? 4 : 2;
      const next = await this.#tx.get<{ owner: string; precedence: number }>(
        ranks === 4 ? NEXT : NEXT_IN_GOOD_STANDING,
        ...Array.from({ length: ranks }, () => this.#mostRunning),
      );
      if (!next) return undefined;
      if ((await this.#rank(next.owner)) === next.precedence) return next.owner;
      // The recorded rank was outdated and has been updated: select again.
    }
  }

  async #rank(owner: string): Promise<number> {
    const known = this.#ranks.get(owner);
    if (known !== undefined) return known;
    const rank = rankOf(this.#request.precedenceOf(owner));
    this.#ranks.set(owner, rank);
    await this.#tx.run(
      'UPDATE turns SET precedence = ? WHERE owner = ? AND precedence <> ?',
      rank,
      owner,
      rank,
    );
    return rank;
  }

  /** Undefined when the owner's last job is being removed by another transaction. */
  async #firstOf(owner: string): Promise<QueueRow | undefined> {
    const row = await this.#tx.getUnlocked(
      `SELECT ${QUEUE.names} FROM queue WHERE owner = ? AND worker IS NULL AND not_before_ms IS NULL
       ORDER BY job_id LIMIT 1`,
      owner,
    );
    if (row) return QUEUE.record(row);
    // The row has the counts that the other transaction leaves: the lock waits for it.
    const turns = await this.#tx.getForUpdate<{ ready: number }>(TURNS, owner);
    this.#misses += 1;
    assert(!turns?.ready || this.#misses < MOST_MISSES, 'an owner counted as ready has a ready job');
    return undefined;
  }

  /** Claims the job and moves its owner behind all others. */
  async #give(row: QueueRow): Promise<Claim> {
    const { lapsesAtMs } = this.#request;
    const { owner, token } = row;
    const claimed: QueueRow = {
      ...row,
      notBeforeMs: null,
      token: token + 1,
      worker: this.#worker,
      lapsesAtMs,
    };
    await this.#tx.run(QUEUE.update, ...QUEUE.changes(claimed));
    await this.#tx.run(
      'UPDATE turns SET turn = (SELECT turn FROM turns ORDER BY turn DESC LIMIT 1) + 1 WHERE owner = ?',
      owner,
    );
    if (!precedenceOf(await this.#rank(owner)).inGoodStanding) this.#othersLeft -= 1;
    return claimOf(claimed);
  }
}
