import assert from 'node:assert/strict';
import { isTerminal, type JobRecord, type JobStatus, statusOf } from '../../jobs/job.ts';
import type {
  IdempotentRequest,
  JobQuery,
  ResealedStep,
  ResealStep,
  Storage,
  Transaction,
} from '../storage.ts';
import type { LowdbDatabase } from './database.ts';
import { LowdbDeliveryStore } from './lowdb-delivery-store.ts';
import { resealRows } from './reseal-rows.ts';
import type { LowdbTransaction } from './transaction.ts';

export const JOBS = 'jobs';
const SOURCES = 'sources';
const REQUESTS = 'idempotentRequests';
const REMOVALS = 'artifactRemovals';
const DEFAULT_LIMIT = 50;

const STATUSES: JobStatus[] = ['queued', 'running', 'completed', 'failed'];

/** Jobs in the embedded database. Those that are over leave its memory, and the sources of all scenes. */
export class LowdbStorage implements Storage {
  readonly deliveries: LowdbDeliveryStore;
  readonly #database: LowdbDatabase;
  /** The ids of requests that may be sent again, by the job that each made. */
  readonly #requestIds = new Map<string, string>();

  constructor(database: LowdbDatabase) {
    this.#database = database;
    this.deliveries = new LowdbDeliveryStore(database);
    database.archive<JobRecord>(JOBS, {
      finished: ({ phase }) => isTerminal(phase),
      keepsRecent: true,
      soughtById: true,
      indexes: {
        byOwner: (job) => ({ bucket: [job.owner, shownStatus(job)], order: job.jobId }),
        byStatus: (job) => ({ bucket: [shownStatus(job)], order: job.jobId }),
      },
    });
    database.archive(SOURCES, { finished: () => true });
    database.archive(REMOVALS, { finished: () => true });
    database.listen(REQUESTS, (id, before, after) => {
      if (before) this.#requestIds.delete((before as IdempotentRequest).jobId);
      if (after) this.#requestIds.set((after as IdempotentRequest).jobId, id);
    });
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
    assert((await inside.find(JOBS, job.jobId)) === undefined, 'a jobId is used once');
    inside.put(JOBS, job.jobId, job);
    inside.put(SOURCES, job.jobId, source);
  }

  async updateJob(tx: Transaction, job: JobRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    const before = await inside.find<JobRecord>(JOBS, job.jobId);
    assert(before, 'the job exists');
    assert(!isTerminal(before.phase), 'a terminal job never changes');
    inside.put(JOBS, job.jobId, job);
  }

  async deleteJob(tx: Transaction, jobId: string): Promise<void> {
    const inside = this.#database.inside(tx);
    const job = await inside.find<JobRecord>(JOBS, jobId);
    assert(job?.phase === 'reserving', 'only a job that nobody saw is removed');
    inside.remove(JOBS, jobId);
    inside.remove(SOURCES, jobId);
  }

  async forgetJob(tx: Transaction, job: JobRecord): Promise<void> {
    const inside = this.#database.inside(tx);
    const before = await inside.find<JobRecord>(JOBS, job.jobId);
    assert(before && isTerminal(before.phase), 'only a job that is over is forgotten');
    inside.put(JOBS, job.jobId, job);
    inside.remove(SOURCES, job.jobId);
    const request = this.#requestIds.get(job.jobId);
    if (request !== undefined && inside.get<IdempotentRequest>(REQUESTS, request)?.jobId === job.jobId)
      inside.remove(REQUESTS, request);
  }

  async purge(): Promise<void> {
    await this.#database.purge();
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
    const inside = this.#database.inside(tx);
    const isOld = (request: IdempotentRequest | undefined) =>
      request && request.createdAtMs < createdBeforeMs;
    for (const request of this.#database.all<IdempotentRequest>(REQUESTS)) {
      if (!isOld(request)) continue;
      const id = requestId(request.owner, request.key);
      // One of the same name may be on its way to the disk.
      if (isOld(inside.get(REQUESTS, id))) inside.remove(REQUESTS, id);
    }
  }

  async getJob(jobId: string, tx?: Transaction): Promise<JobRecord | undefined> {
    return await (tx ? this.#database.inside(tx) : this.#database).find(JOBS, jobId);
  }

  async listJobs({ owner, status, limit = DEFAULT_LIMIT, before }: JobQuery): Promise<JobRecord[]> {
    const jobs: JobRecord[] = [];
    const statuses = status === undefined ? STATUSES : [status];
    const listing = {
      index: owner === undefined ? 'byStatus' : 'byOwner',
      buckets: statuses.map((status) => (owner === undefined ? [status] : [owner, status])),
      ...(before !== undefined && { before }),
    };
    for await (const job of this.#database.newestFirst<JobRecord>(JOBS, listing)) {
      if (jobs.push(job) >= limit) break;
    }
    return jobs;
  }

  async unfinishedJobs(): Promise<JobRecord[]> {
    return [...this.#database.allUnfinished<JobRecord>(JOBS)]
      .filter(({ phase }) => !isTerminal(phase))
      .sort((a, b) => (a.jobId < b.jobId ? -1 : 1));
  }

  async *jobsWithArtifacts(): AsyncIterable<JobRecord> {
    await using view = this.#database.view(JOBS, REMOVALS);
    const removals = view.rows<Removal>(REMOVALS);
    let removal = (await removals.next()).value as Removal | undefined;
    for await (const job of view.rows<JobRecord>(JOBS)) {
      if (job.artifacts.length === 0) continue;
      while (removal && removal.jobId < job.jobId) removal = (await removals.next()).value;
      if (removal?.jobId !== job.jobId) yield job;
    }
  }

  async noteArtifactsRemoved(tx: Transaction, jobId: string, atMs: number): Promise<void> {
    this.#database.inside(tx).put(REMOVALS, jobId, { jobId, atMs } satisfies Removal);
  }

  resealSecrets(step: ResealStep): Promise<ResealedStep> {
    return resealRows<JobRecord>(this.#database, step, {
      table: JOBS,
      idOf: ({ jobId }) => jobId,
      secret: 'webhookSecretSealed',
    });
  }

  async readSource(jobId: string): Promise<string | undefined> {
    return this.#database.find<string>(SOURCES, jobId);
  }
}

/** When a job's artifacts were removed. */
interface Removal {
  jobId: string;
  atMs: number;
}

/** The bucket of a job in an index; one that nobody sees yet is in none that is listed. */
function shownStatus({ phase }: JobRecord): string {
  return phase === 'reserving' ? '' : statusOf(phase);
}

/** JSON, because either part may hold any character. */
function requestId(owner: string, key: string): string {
  return JSON.stringify([owner, key]);
}
