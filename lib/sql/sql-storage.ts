import assert from 'node:assert/strict';
import { allRowsAfter } from '../base/pages.ts';
import type { Random } from '../base/random.ts';
import type { ResealedStep, ResealStep } from '../keys/sealed-secrets.ts';
import type {
  EndedRender,
  IdempotentRequest,
  JobPhase,
  JobRecord,
  JobState,
  JobStatus,
  RenderTrace,
  UnfinishedPhase,
} from '../model/job.ts';
import type { JobCountQuery, JobQuery } from '../model/job-list-query.ts';
import type { FileRecord } from '../model/owner-file.ts';
import type { EndedSum } from '../model/usage.ts';
import type { SqlDatabase, SqlTransaction } from '../storage/sql.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction, TransactionOptions } from '../storage/transaction.ts';
import { endedSums, recentEnds } from './ended-jobs.ts';
import { idempotentRequest, putIdempotentRequest, removeIdempotentRequests } from './idempotent-requests.ts';
import { jobStates } from './job-states.ts';
import { LockedJobs, type StoredJob } from './locked-jobs.ts';
import { inOrder } from './page-order.ts';
import { RecordCache } from './record-cache.ts';
import { type RelabeledQuery, relabel, relabeledJobs } from './relabeled-jobs.ts';
import { resealRows } from './reseal-rows.ts';
import { JOBS, SOURCES, TIMELINES } from './row-formats.ts';
import { readInSlices } from './slices.ts';
import { SqlAssignmentStore } from './sql-assignment-store.ts';
import { SqlClassLinkStore } from './sql-class-link-store.ts';
import { SqlDeliveryStore } from './sql-delivery-store.ts';
import { SqlFileStore } from './sql-file-store.ts';
import { SqlIndexedVideos } from './sql-indexed-videos.ts';
import { SqlQueue } from './sql-queue.ts';
import { SqlSceneStore } from './sql-scene-store.ts';
import { SqlShareStore } from './sql-share-store.ts';
import { SqlSnapshotStore } from './sql-snapshot-store.ts';
import { storedBytesOf } from './stored-bytes.ts';
import { addTextKey, blankTextKey, type TextKey } from './text-keys.ts';

const DEFAULT_LIMIT = 50;
/** Rows per query of a full scan. */
const PAGE = 100;
/** For jobs that clients poll. */
const CACHE_BYTES = 24 * 1024 * 1024;
/** Jobs per page; each may have 200 KiB of metadata. */
const UNFINISHED_PAGE = 100;
const UNFINISHED_PHASES: UnfinishedPhase[] = ['reserving', 'queued', 'running', 'settling'];
const TERMINAL: JobPhase[] = ['completed', 'failed'];

const SHOWN_PHASES: Record<JobStatus, JobPhase[]> = {
  queued: ['queued'],
  running: ['running', 'settling'],
  completed: ['completed'],
  failed: ['failed'],
};

/** Jobs in an SQL database. */
export class SqlStorage implements Storage {
  readonly deliveries: SqlDeliveryStore;
  readonly queue: SqlQueue;
  readonly videos: SqlIndexedVideos;
  readonly snapshots: SqlSnapshotStore;
  readonly files: SqlFileStore;
  readonly shares: SqlShareStore;
  readonly scenes: SqlSceneStore;
  readonly assignments: SqlAssignmentStore;
  readonly classLinks: SqlClassLinkStore;
  readonly isShared: boolean;
  readonly #database: SqlDatabase;
  readonly #random: Random;
  /** Undefined when other processes may change jobs. */
  readonly #cache: RecordCache<JobRecord> | undefined;
  readonly #lockedJobs = new LockedJobs();

  /** `random`: the source of keys and nonces. */
  constructor(database: SqlDatabase, random: Random) {
    this.#database = database;
    this.#random = random;
    this.isShared = database.isShared;
    if (!this.isShared) this.#cache = new RecordCache({ mostBytes: CACHE_BYTES, textBytesOf });
    this.deliveries = new SqlDeliveryStore(database, random);
    this.videos = new SqlIndexedVideos(database);
    this.snapshots = new SqlSnapshotStore(database);
    this.files = new SqlFileStore(database);
    this.shares = new SqlShareStore(database, random);
    this.scenes = new SqlSceneStore(database, random);
    this.assignments = new SqlAssignmentStore(database, random);
    this.classLinks = new SqlClassLinkStore(database, random);
    this.queue = new SqlQueue(database, (tx, row) => this.#lockedJobs.keep(tx, row));
  }

  get isFull(): boolean {
    return this.#database.isFull ?? false;
  }

  async start(): Promise<void> {
    this.#cache?.clear();
    await this.#database.start();
    this.queue.start();
  }

  async stop(): Promise<void> {
    await this.#database.stop();
  }

  transaction<T>(work: (tx: SqlTransaction) => Promise<T>, options?: TransactionOptions): Promise<T> {
    return this.#database.transaction(work, options);
  }

  alone<T>(task: string, work: () => Promise<T>): Promise<T | undefined> {
    return this.#database.alone(task, work);
  }

  /** The lock that {@link SqlQueue.assertCapacity} takes, too. */
  async lockOwner(tx: Transaction, owner: string): Promise<void> {
    await this.#database.inside(tx).lock(`jobs of ${owner}`);
  }

  async insertJob(tx: Transaction, job: JobRecord, source: string): Promise<void> {
    const inside = this.#database.inside(tx);
    const { jobId } = job;
    const textKey = await addTextKey(inside, this.#random);
    inside.write(JOBS.insert, ...JOBS.rowWithTexts(job, textKey, this.#random));
    const code = { jobId, code: source };
    inside.write(SOURCES.insert, ...SOURCES.rowWithTexts(code, textKey, this.#random));
  }

  async updateJob(tx: Transaction, job: JobRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    const { job: before, textKey } = await this.#stored(inside, job.jobId);
    assert(!TERMINAL.includes(before.phase), 'a terminal job never changes');
    this.#update(inside, job, textKey, { sameTexts: JOBS.sameTexts(job, before) });
  }

  async relabelJob(tx: Transaction, job: JobRecord, atMs: number): Promise<void> {
    const inside = this.#database.inside(tx);
    const { textKey } = await this.#stored(inside, job.jobId);
    relabel(inside, job.jobId, JOBS.sealTexts(job, textKey, this.#random), atMs);
    this.#drop(inside, job.jobId);
  }

  relabeledJobs(page: RelabeledQuery): Promise<string[]> {
    return relabeledJobs(this.#database, page);
  }

  async deleteJob(tx: Transaction, jobId: string): Promise<void> {
    const inside = this.#database.inside(tx);
    const { job, textKey } = await this.#stored(inside, jobId);
    assert.equal(job.phase, 'reserving', 'only a job that was never visible is deleted');
    await this.files.release(tx, jobId, job.createdAtMs);
    inside.write('DELETE FROM jobs WHERE job_id = ?', jobId);
    blankTextKey(inside, textKey);
    this.#drop(inside, jobId);
  }

  async forgetJob(tx: Transaction, job: JobRecord): Promise<FileRecord[]> {
    const inside = this.#database.inside(tx);
    const { job: before, textKey } = await this.#stored(inside, job.jobId);
    assert(TERMINAL.includes(before.phase), 'only a terminal job is forgotten');
    this.#update(inside, job, blankTextKey(inside, textKey));
    inside.write('DELETE FROM sources WHERE job_id = ?', job.jobId);
    inside.write('DELETE FROM timelines WHERE job_id = ?', job.jobId);
    inside.write('DELETE FROM idempotent_requests WHERE job_id = ?', job.jobId);
    await this.shares.dropJob(tx, job.jobId);
    return this.files.release(tx, job.jobId, job.forgottenAtMs ?? job.createdAtMs);
  }

  check(): Promise<string[]> {
    return this.#database.check();
  }

  purge(): Promise<void> {
    return this.#database.purge();
  }

  getIdempotentRequest(owner: string, key: string, tx: Transaction): Promise<IdempotentRequest | undefined> {
    return idempotentRequest(this.#database.inside(tx), owner, key);
  }

  async putIdempotentRequest(tx: Transaction, request: IdempotentRequest): Promise<void> {
    putIdempotentRequest(this.#database.inside(tx), request);
  }

  removeIdempotentRequests(tx: Transaction, createdBeforeMs: number): Promise<boolean> {
    return removeIdempotentRequests(this.#database.inside(tx), createdBeforeMs);
  }

  async getJob(jobId: string, tx?: Transaction): Promise<JobRecord | undefined> {
    if (tx) return (await this.#lockedJobs.lock(this.#database.inside(tx), jobId))?.job;
    if (!this.#cache) return this.#read(jobId);
    return this.#cache.get(jobId, async () => frozen(await this.#read(jobId)));
  }

  jobStates(jobIds: readonly string[]): Promise<JobState[]> {
    return jobStates(this.#database, jobIds);
  }

  async listJobs({ metadata = true, limit = DEFAULT_LIMIT, ...query }: JobQuery): Promise<JobRecord[]> {
    return readInSlices(limit, async (limit, last: JobRecord | undefined) => {
      const before = last?.jobId ?? query.before;
      const jobs = await this.#jobs({ ...query, limit, ...(before !== undefined && { before }) });
      return metadata ? jobs : jobs.map((job) => ({ ...job, metadataJson: null }));
    });
  }

  async #jobs({
    owner,
    status,
    quality,
    canceled,
    limit,
    before,
    after,
  }: Omit<JobQuery, 'metadata'> & { limit: number }): Promise<JobRecord[]> {
    const statuses = status === undefined ? (Object.keys(SHOWN_PHASES) as JobStatus[]) : [status];
    const phases = statuses.flatMap((status) => phasesOf(status, canceled));
    if (phases.length === 0) return [];
    // Reads the newest jobs of each phase in index order, then merges them.
    const conditions = [
      ...(owner === undefined ? [] : [{ text: 'owner = ?', value: owner }]),
      ...(quality === undefined ? [] : [{ text: 'quality = ?', value: quality }]),
      ...(before === undefined ? [] : [{ text: 'job_id < ?', value: before }]),
      ...(after === undefined ? [] : [{ text: 'job_id > ?', value: after }]),
    ];
    const where = conditions.map(({ text }) => ` AND ${text}`).join('');
    // Phases are written out, because the indexes of qualities contain two of them.
    const each = phases.map(
      (phase) =>
        `SELECT * FROM (SELECT ${JOBS.names} FROM jobs WHERE phase = '${phase}'${canceledIn(phase, canceled)}${where} ` +
        'ORDER BY job_id DESC LIMIT ?) AS page',
    );
    const rows = await this.#database.all(
      `${each.join(' UNION ALL ')} ORDER BY job_id DESC LIMIT ?`,
      ...phases.flatMap(() => [...conditions.map(({ value }) => value), limit]),
      limit,
    );
    const jobs = rows.map((row) => JOBS.record(row));
    return inOrder(JOBS, ({ jobId }) => jobId, jobs, { up: false, from: before });
  }

  async countJobs({
    owner,
    after,
    canceled,
    limit = Number.MAX_SAFE_INTEGER,
  }: JobCountQuery): Promise<Record<JobStatus, number>> {
    const ofOwner = owner === undefined ? '' : 'owner = ? AND';
    const counts = { queued: 0, running: 0, completed: 0, failed: 0 };
    for (const status of Object.keys(SHOWN_PHASES) as JobStatus[]) {
      for (const phase of phasesOf(status, canceled)) {
        const found = `SELECT 1 FROM jobs WHERE ${ofOwner} phase = ? AND job_id > ?${canceledIn(phase, canceled)} LIMIT ?`;
        const text = `SELECT count(*) AS count FROM (${found}) AS page`;
        const values = [...(owner === undefined ? [] : [owner]), phase, after, limit - counts[status]];
        const row = await this.#database.get<{ count: number }>(text, ...values);
        counts[status] += row?.count ?? 0;
      }
    }
    return counts;
  }

  async unfinishedJobs(page: { after?: string; phases?: UnfinishedPhase[] } = {}): Promise<JobRecord[]> {
    const { after = '', phases = UNFINISHED_PHASES } = page;
    const each = `SELECT * FROM (SELECT ${JOBS.names} FROM jobs WHERE phase = ? AND job_id > ? ORDER BY job_id LIMIT ?) AS page`;
    const rows = await this.#database.all(
      `${phases.map(() => each).join(' UNION ALL ')} ORDER BY job_id LIMIT ?`,
      ...phases.flatMap((phase) => [phase, after, UNFINISHED_PAGE]),
      UNFINISHED_PAGE,
    );
    const jobs = rows.map((row) => JOBS.record(row));
    return inOrder(JOBS, ({ jobId }) => jobId, jobs, { up: true, from: after });
  }

  recentEnds(page: { after: string; limit: number }): Promise<EndedRender[]> {
    return recentEnds(this.#database, page);
  }

  endedSums(owner: string, after: string): Promise<EndedSum[]> {
    return endedSums(this.#database, owner, after);
  }

  jobsWithArtifacts(): AsyncIterable<JobRecord> {
    const idOf = ({ jobId }: JobRecord) => jobId;
    return allRowsAfter(async (after) => {
      const rows = await this.#database.all(
        `SELECT ${JOBS.names} FROM jobs WHERE phase = 'completed' AND artifacts <> '[]' ` +
          'AND artifacts_removed_at_ms IS NULL AND job_id > ? ORDER BY job_id LIMIT ?',
        after,
        PAGE,
      );
      const jobs = rows.map((row) => JOBS.record(row));
      return inOrder(JOBS, idOf, jobs, { up: true, from: after });
    }, idOf);
  }

  async storedBytes(owner: string): Promise<number> {
    const ofJobs = await storedBytesOf(this.#database, owner, [...UNFINISHED_PHASES, ...TERMINAL]);
    const files = (await this.snapshots.of(owner)).flatMap((snapshot) => snapshot.files);
    return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, ofJobs);
  }

  async noteArtifactsRemoved(tx: Transaction, jobId: string, atMs: number): Promise<void> {
    const text =
      'UPDATE jobs SET artifacts_removed_at_ms = ?, scene_digest = NULL, index_digest = NULL WHERE job_id = ?';
    await this.#database.inside(tx).run(text, Math.floor(atMs), jobId);
  }

  async resealSecrets(step: ResealStep): Promise<ResealedStep> {
    const resealed = await resealRows(this.#database, JOBS, 'webhookSecretSealed', step);
    this.#cache?.clear();
    return resealed;
  }

  async putTrace(tx: Transaction, jobId: string, { plays, output }: RenderTrace): Promise<void> {
    const inside = this.#database.inside(tx);
    const { textKey } = await this.#stored(inside, jobId);
    const row = TIMELINES.rowWithTexts({ jobId, plays, output }, textKey, this.#random);
    inside.write(TIMELINES.insert, ...row);
  }

  async readTrace(jobId: string): Promise<RenderTrace> {
    const row = await this.#database.get(TIMELINES.byKey, jobId);
    if (!row) return { plays: [], output: '' };
    const { plays, output } = TIMELINES.record(row);
    return { plays, output };
  }

  async readSource(jobId: string): Promise<string | undefined> {
    const row = await this.#database.get(SOURCES.byKey, jobId);
    return row && SOURCES.record(row).code;
  }

  async #read(jobId: string): Promise<JobRecord | undefined> {
    const row = await this.#database.get(JOBS.byKey, jobId);
    return row && JOBS.record(row);
  }

  #update(tx: SqlTransaction, job: JobRecord, textKey: TextKey, { sameTexts = false } = {}): void {
    this.#drop(tx, job.jobId);
    if (sameTexts) tx.write(JOBS.update, ...JOBS.changes(job));
    else tx.write(JOBS.updateWithTexts, ...JOBS.changes(job, JOBS.sealTexts(job, textKey, this.#random)));
  }

  #drop(tx: SqlTransaction, jobId: string): void {
    tx.afterCommit(() => this.#cache?.drop(jobId));
    this.#lockedJobs.drop(tx, jobId);
  }

  async #stored(tx: SqlTransaction, jobId: string): Promise<StoredJob> {
    const stored = await this.#lockedJobs.lock(tx, jobId);
    assert(stored, 'the job exists');
    return stored;
  }
}

function phasesOf(status: JobStatus, canceled: boolean | undefined): JobPhase[] {
  return canceled && status !== 'failed' ? [] : SHOWN_PHASES[status];
}

/** For failed jobs only: the others can be counted in an index. */
function canceledIn(phase: JobPhase, canceled: boolean | undefined): string {
  if (canceled === undefined || phase !== 'failed') return '';
  return canceled ? " AND failed_by = 'cancel'" : " AND coalesce(failed_by, '') <> 'cancel'";
}

/** Several callers may get the same record. */
function frozen(job: JobRecord | undefined): JobRecord | undefined {
  for (const artifact of job?.artifacts ?? []) Object.freeze(artifact);
  Object.freeze(job?.artifacts);
  Object.freeze(job?.usage?.stagesMs);
  Object.freeze(job?.usage?.workMs);
  Object.freeze(job?.usage);
  return Object.freeze(job);
}

function textBytesOf({ diagnosis, ...job }: JobRecord): number {
  const texts = [job.metadataJson, job.error, job.webhookUrl, job.captions];
  const said = diagnosis ? JSON.stringify(diagnosis).length : 0;
  return 2 * texts.reduce((sum, text) => sum + (text?.length ?? 0), said);
}
