import type { Claim, ClaimRequest, Lease } from '../storage/queue/queue.ts';
import { LONGEST_HOLD_MS } from '../storage/queue/suspects.ts';
import type { SqlTransaction } from '../storage/sql.ts';
import { countClaimed, OwnerRanks } from './owner-turns.ts';
import { claimOf, JOBS, QUEUE, type QueueRow } from './row-formats.ts';

/** Owners are read in multiples of this number: when the claim has its lock, more jobs may be wanted. */
const OWNERS_READ = 8;
/** Due suspects checked per round for one whose owner may have a turn. */
const SUSPECTS_LOOKED_AT = 50;
/** Owners that are passed over, because other transactions have locked their jobs. */
const MOST_MISSES = 100;
const RUNNING = 'SELECT running FROM turns WHERE owner = ?';

interface Candidate {
  owner: string;
  precedence: number;
  running: number;
}

/** Owners in the order of their turns. */
interface Candidates {
  owners: Candidate[];
  /** There are no others that may have a turn. */
  areAll: boolean;
}

/** A row of {@link readyJobs}, without the job's other columns. */
interface ReadyRow {
  job_id: string;
  owner: string;
  queue_interruptions: number;
  queue_token: number;
  queue_checksum: number;
}

const ANY_RANK = [0, 1, 2, 3];
const IN_GOOD_STANDING = [0, 2];

const ANY_SUSPECT = 'SELECT 1 FROM queue WHERE worker IS NULL AND not_before_ms IS NOT NULL LIMIT 1';

// Limits are part of the texts: Postgres would plan a statement with an unknown limit again at each call. `qualities`:
// those that a worker renders; empty for all.

/** Selects suspects that may start, the least interrupted first. */
function dueSuspects(qualities: readonly string[]): string {
  const ofQualities =
    qualities.length === 0
      ? ''
      : `AND EXISTS (SELECT 1 FROM jobs WHERE jobs.job_id = queue.job_id AND ${isIn('quality', qualities)})`;
  return `SELECT ${QUEUE.names} FROM queue WHERE worker IS NULL AND not_before_ms IS NOT NULL
    AND (not_before_ms <= ? OR not_before_ms > ?) ${ofQualities}
    ORDER BY interruptions, job_id LIMIT ${SUSPECTS_LOOKED_AT}`;
}

/**
 * Selects the next owners of each rank, with one index lookup each, and then the first of these; none of `missed`. Owners
 * without a job of the qualities are passed over, so the cost grows with their number.
 */
function nextOwners(
  ranks: number[],
  { most, missed, qualities }: { most: number; missed: string[]; qualities: readonly string[] },
): string {
  const ofQualities =
    qualities.length === 0
      ? ''
      : `AND EXISTS (SELECT 1 FROM (${jobsOf('turns.owner', qualities)}) AS firsts)`;
  const each = ranks.map(
    (rank) =>
      `SELECT * FROM (SELECT owner, precedence, running, turn FROM turns
         WHERE precedence = ${rank} AND is_ready = 1 AND running < ? AND ${notIn('owner', missed)} ${ofQualities}
         ORDER BY turn LIMIT ${most}) AS of_rank`,
  );
  return `SELECT owner, precedence, running FROM (${each.join(' UNION ALL ')}) AS firsts
    ORDER BY precedence / 2, turn LIMIT ${most}`;
}

/** Selects the ids of the jobs of an owner that may start. */
function jobsOf(owner: string, qualities: readonly string[]): string {
  return `SELECT jobs.job_id FROM jobs WHERE jobs.owner = ${owner} AND jobs.phase = 'queued'
    AND ${isIn('jobs.quality', qualities)} AND EXISTS
      (SELECT 1 FROM queue AS q WHERE q.job_id = jobs.job_id AND q.worker IS NULL AND q.not_before_ms IS NULL)`;
}

/** Selects an owner's first jobs in the queue, with their records, which are made `running` next. */
function readyJobs(most: number, qualities: readonly string[]): string {
  const ofQualities =
    qualities.length === 0
      ? ''
      : `AND job_id IN (${jobsOf('?', qualities)} ORDER BY jobs.job_id LIMIT ${most})`;
  return `SELECT queue_interruptions, queue_token, queue_checksum, ${JOBS.names} FROM
    (SELECT job_id AS queued_job_id, interruptions AS queue_interruptions, token AS queue_token,
       checksum AS queue_checksum
     FROM queue WHERE owner = ? AND worker IS NULL AND not_before_ms IS NULL ${ofQualities}
     ORDER BY job_id LIMIT ${most}) AS ready
    JOIN jobs ON job_id = queued_job_id ORDER BY queued_job_id`;
}

/** Assigns waiting jobs, of all qualities or some, to a worker, in one transaction. */
export class ClaimRound {
  readonly #tx: SqlTransaction;
  readonly #worker: string;
  readonly #request: ClaimRequest;
  readonly #onJob: (row: object) => void;
  readonly #ranks: OwnerRanks;
  readonly #qualities: readonly string[];
  readonly #mostRunning: number;
  readonly #claims: Claim[] = [];
  #lease: Lease = { nowMs: 0, lapsesAtMs: 0 };
  /** Jobs that are still wanted. */
  #left = 0;
  #othersLeft = 0;
  /**
   * Owners whose jobs other transactions have locked, to remove or to read them. This one does not wait for them: they
   * may wait for an owner's row that it has changed.
   */
  readonly #missed: string[] = [];

  /** `onJob`: called with the rows of jobs that are locked. */
  constructor(tx: SqlTransaction, worker: string, request: ClaimRequest, onJob: (row: object) => void) {
    this.#tx = tx;
    this.#worker = worker;
    this.#onJob = onJob;
    this.#request = request;
    this.#ranks = new OwnerRanks(tx, request.precedenceOf);
    this.#qualities = request.qualities ?? [];
    this.#mostRunning = Math.min(request.maxRunningPerOwner, Number.MAX_SAFE_INTEGER);
  }

  async take(): Promise<Claim[]> {
    const { maySuspect, changed = [] } = this.#request;
    for (const owner of changed) this.#ranks.of(owner);
    this.#want();
    const ranks = this.#servedRanks;
    const [suspects, first] = await Promise.all([
      maySuspect && this.#left > 0 ? this.#tx.all(ANY_SUSPECT) : [],
      this.#nextOwners(),
    ]);
    this.#lease = await this.#request.lease;
    this.#want(); // The claim has its lock now.
    const suspect = suspects.length > 0 ? await this.#lockedSuspect(await this.#dueSuspects()) : undefined;
    if (suspect) this.#give(suspect);
    const isOutdated = suspect !== undefined || ranks !== this.#servedRanks;
    let next = isOutdated ? await this.#nextOwners() : first;
    for (; this.#left > 0 && next.owners.length > 0; next = await this.#nextOwners()) await this.#serve(next);
    return this.#claims;
  }

  #want(): void {
    const { most, mostOfOthers } = this.#request.wanted();
    this.#left = most;
    this.#othersLeft = mostOfOthers;
  }

  get #servedRanks(): number[] {
    return this.#othersLeft > 0 ? ANY_RANK : IN_GOOD_STANDING;
  }

  async #dueSuspects(): Promise<QueueRow[]> {
    const nowMs = Math.floor(this.#lease.nowMs);
    const until = nowMs + LONGEST_HOLD_MS;
    const rows = await this.#tx.all(dueSuspects(this.#qualities), nowMs, until, ...this.#qualities);
    return rows.map((row) => QUEUE.record(row));
  }

  /** The suspect with the fewest interruptions, which is the least likely cause, whose owner may have a turn. */
  async #lockedSuspect(suspects: QueueRow[]): Promise<QueueRow | undefined> {
    for (const { owner, jobId } of suspects) {
      if (!(await this.#mayHaveTurn(owner))) continue;
      const [locked] = await this.#tx.allUnlocked(QUEUE.byKey, jobId);
      if (locked) return QUEUE.record(locked);
    }
    return undefined;
  }

  async #mayHaveTurn(owner: string): Promise<boolean> {
    const turns = await this.#tx.get<{ running: number }>(RUNNING, owner);
    if ((turns?.running ?? 0) >= this.#mostRunning) return false;
    return this.#othersLeft > 0 || this.#ranks.isInGoodStanding(owner);
  }

  /** The owners whose turns come next; at least as many as jobs are wanted, if there are. */
  async #nextOwners(): Promise<Candidates> {
    if (this.#left <= 0 || this.#missed.length >= MOST_MISSES) return { owners: [], areAll: false };
    const most = Math.ceil(this.#left / OWNERS_READ) * OWNERS_READ;
    const ranks = this.#servedRanks;
    const [missed, qualities] = [this.#missed, this.#qualities];
    const text = nextOwners(ranks, { most, missed, qualities });
    const values = ranks.flatMap(() => [this.#mostRunning, ...missed, ...qualities]);
    const owners = await this.#tx.all<Candidate>(text, ...values);
    return { owners, areAll: owners.length < most };
  }

  /**
   * Gives a job to each of these owners up to the first whose recorded rank is outdated, which is corrected, and not to
   * those that yield to the others. If there are no other owners, each gets its share of the remaining jobs.
   */
  async #serve({ owners, areAll }: Candidates): Promise<void> {
    const { precedence: first } = owners[0] as Candidate;
    const next = owners.slice(0, this.#left);
    const ofGroup = next.filter(({ precedence }) => precedence >> 1 === first >> 1);
    const outdated = ofGroup.findIndex(
      ({ owner, precedence }) => this.#ranks.of(owner, precedence) !== precedence,
    );
    const served = outdated < 0 ? ofGroup : ofGroup.slice(0, outdated);
    const share = areAll && outdated < 0 ? Math.ceil(this.#left / served.length) : 1;
    const jobs = await Promise.all(
      served.map(({ owner, running }) => this.#ready(owner, Math.min(share, this.#mostRunning - running))),
    );
    for (let round = 0; round < share; round++) {
      for (const ofOwner of jobs) {
        const job = ofOwner[round];
        if (job && this.#left > 0 && this.#mayGive(job.owner)) this.#give(job);
      }
    }
    for (const [i, { owner }] of served.entries()) if (jobs[i]?.length === 0) this.#missed.push(owner);
  }

  #mayGive(owner: string): boolean {
    return this.#othersLeft > 0 || this.#ranks.isInGoodStanding(owner);
  }

  /** The owner's first jobs, except those that another transaction has locked. */
  async #ready(owner: string, most: number): Promise<QueueRow[]> {
    const qualities = this.#qualities;
    const ofQualities = qualities.length === 0 ? [] : [owner, ...qualities];
    const rows = await this.#tx.allUnlocked<ReadyRow>(readyJobs(most, qualities), owner, ...ofQualities);
    for (const row of rows) this.#onJob(row);
    return rows.map(queueRowOf);
  }

  /** Claims the job. Its owner moves behind all others. */
  #give(row: QueueRow): void {
    const { lapsesAtMs } = this.#lease;
    const { owner, token } = row;
    const claimed: QueueRow = {
      ...row,
      notBeforeMs: null,
      token: token + 1,
      worker: this.#worker,
      lapsesAtMs,
    };
    this.#tx.write(QUEUE.update, ...QUEUE.changes(claimed));
    countClaimed(this.#tx, row);
    this.#left -= 1;
    if (!this.#ranks.isInGoodStanding(owner)) this.#othersLeft -= 1;
    this.#claims.push(claimOf(claimed));
  }
}

function queueRowOf(row: ReadyRow): QueueRow {
  return QUEUE.record({
    job_id: row.job_id,
    owner: row.owner,
    interruptions: row.queue_interruptions,
    not_before_ms: null,
    token: row.queue_token,
    worker: null,
    lapses_at_ms: null,
    checksum: row.queue_checksum,
  });
}

/** The condition that a column has one of these values, at least one, with a placeholder for each. */
export function isIn(column: string, values: readonly unknown[]): string {
  return `${column} IN (${marksFor(values)})`;
}

/** The condition that a column has none of these values, with a placeholder for each. */
export function notIn(column: string, values: readonly unknown[]): string {
  return values.length === 0 ? '1 = 1' : `${column} NOT IN (${marksFor(values)})`;
}

function marksFor(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
