import assert from 'node:assert/strict';
import { isTerminal, type JobRecord, statusOf } from '../../jobs/job.ts';
import type { IdempotentRequest, JobQuery, Storage, Transaction } from '../storage.ts';
import type { LowdbDatabase, LowdbTransaction } from './database.ts';
import { LowdbDeliveryStore } from './lowdb-delivery-store.ts';

const TABLE = 'jobs';
const SOURCES = 'sources';
const REQUESTS = 'idempotentRequests';
const REMOVALS = 'artifactRemovals';
/** A table of one row. */
const QUEUE = 'queue';
const DEFAULT_LIMIT = 50;

interface QueueRow {
  pausedAtMs: number | null;
}

/** Jobs in the embedded database; the sources of their scenes are in a table apart, which doesn't stay in memory. */
export class LowdbStorage implements Storage {
  readonly deliveries: LowdbDeliveryStore;
  readonly #database: LowdbDatabase;
  /** Ids of each owner's jobs; ids sort by time, and rows come in that order. */
  readonly #byOwner = new Map<string, Set<string>>();
  readonly #unfinished = new Set<string>();

  constructor(database: LowdbDatabase) {
    this.#database = database;
    this.deliveries = new LowdbDeliveryStore(database);
    database.keepCold(SOURCES);
    database.listen(TABLE, (id, before, after) =>
      this.#index(id, before as JobRecord | undefined, after as JobRecord | undefined),
    );
  }

  async start(): Promise<void> {
    await this.#database.start();
  }

  async stop(): Promise<void> {
    await this.#database.stop();
  }

  transaction<T>(work: (tx: LowdbTransaction) => Promise<T>): Promise<T> {
    return this.#database.transaction(work);
  }

  async insertJob(tx: Transaction, job: JobRecord, source: string): Promise<void> {
    const inside = this.#database.inside(tx);
    assert(inside.get(TABLE, job.jobId) === undefined, 'a jobId is used once');
    inside.put(TABLE, job.jobId, job);
    inside.putCold(SOURCES, job.jobId, source);
  }

  async updateJob(tx: Transaction, job: JobRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    const before = inside.get<JobRecord>(TABLE, job.jobId);
    assert(before, 'the job exists');
    assert(!isTerminal(before.phase), 'a terminal job never changes');
    inside.put(TABLE, job.jobId, job);
  }

  async deleteJob(tx: Transaction, jobId: string): Promise<void> {
    const inside = this.#database.inside(tx);
    assert(
      inside.get<JobRecord>(TABLE, jobId)?.phase === 'reserving',
      'only a job that nobody saw is removed',
    );
    inside.remove(TABLE, jobId);
    inside.remove(SOURCES, jobId);
  }

  async getIdempotentRequest(
    owner: string,
    key: string,
    tx: Transaction,
  ): Promise<IdempotentRequest | undefined> {
    return this.#database.inside(tx).get(REQUESTS, requestId(owner, key));
  }

  async putIdempotentRequest(tx: Transaction, request: IdempotentRequest): Promise<void> {
    this.#database.inside(tx).put(REQUESTS, requestId(request.owner, request.key), request);
  }

  async removeIdempotentRequests(tx: Transaction, createdBeforeMs: number): Promise<void> {
    for (const { owner, key, createdAtMs } of this.#database.all<IdempotentRequest>(REQUESTS)) {
      if (createdAtMs < createdBeforeMs) this.#database.inside(tx).remove(REQUESTS, requestId(owner, key));
    }
  }

  async getJob(jobId: string, tx?: Transaction): Promise<JobRecord | undefined> {
    return tx ? this.#database.inside(tx).get(TABLE, jobId) : this.#database.get(TABLE, jobId);
  }

  async listJobs({ owner, status, limit = DEFAULT_LIMIT, before }: JobQuery): Promise<JobRecord[]> {
    const jobs: JobRecord[] = [];
    for (const job of this.#newestFirst(owner)) {
      if (before !== undefined && job.jobId >= before) continue;
      if (job.phase === 'reserving' || (status && statusOf(job.phase) !== status)) continue;
      if (jobs.push(job) >= limit) break;
    }
    return jobs;
  }

  async unfinishedJobs(): Promise<JobRecord[]> {
    return [...this.#unfinished].sort().map((id) => this.#database.get<JobRecord>(TABLE, id) as JobRecord);
  }

  async *jobsWithArtifacts(): AsyncIterable<JobRecord> {
    // Ids sort by time. A list of its own, because jobs come and go while somebody looks at each.
    const jobs = [...this.#database.all<JobRecord>(TABLE)].filter(({ artifacts }) => artifacts.length > 0);
    for (const job of jobs.sort((a, b) => (a.jobId < b.jobId ? -1 : 1))) {
      if (!this.#database.get(REMOVALS, job.jobId)) yield job;
    }
  }

  async noteArtifactsRemoved(tx: Transaction, jobId: string, atMs: number): Promise<void> {
    this.#database.inside(tx).put(REMOVALS, jobId, { atMs });
  }

  async readSource(jobId: string): Promise<string | undefined> {
    return this.#database.readCold<string>(SOURCES, jobId);
  }

  async queuePausedAtMs(): Promise<number | null> {
    return this.#database.get<QueueRow>(QUEUE, QUEUE)?.pausedAtMs ?? null;
  }

  async setQueuePausedAtMs(tx: Transaction, pausedAtMs: number | null): Promise<void> {
    this.#database.inside(tx).put(QUEUE, QUEUE, { pausedAtMs } satisfies QueueRow);
  }

  *#newestFirst(owner: string | undefined): Iterable<JobRecord> {
    if (owner === undefined) {
      yield* [...this.#database.all<JobRecord>(TABLE)].reverse();
      return;
    }
    for (const id of [...(this.#byOwner.get(owner) ?? [])].reverse()) {
      yield this.#database.get<JobRecord>(TABLE, id) as JobRecord;
    }
  }

  #index(jobId: string, before: JobRecord | undefined, after: JobRecord | undefined): void {
    const owner = (after ?? before)?.owner as string;
    const ids = this.#byOwner.get(owner) ?? new Set<string>();
    this.#byOwner.set(owner, ids);
    if (after) ids.add(jobId);
    else ids.delete(jobId);
    if (after && !isTerminal(after.phase)) this.#unfinished.add(jobId);
    else this.#unfinished.delete(jobId);
  }
}

/** JSON, because either part may hold any character. */
function requestId(owner: string, key: string): string {
  return JSON.stringify([owner, key]);
}
