import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isTerminal, type JobRecord, statusOf } from '../../jobs/job.ts';
import { writeDurably } from '../durable-file.ts';
import type { JobQuery, Storage, Transaction } from '../storage.ts';
import type { LowdbDatabase, LowdbTransaction } from './database.ts';

const TABLE = 'jobs';
const DEFAULT_LIMIT = 50;

/** Jobs in the embedded database; the source of each scene is a file of its own beside it. */
export class LowdbStorage implements Storage {
  readonly #database: LowdbDatabase;
  readonly #sources: string;
  /** Ids of each owner's jobs; ids sort by time, and rows come in that order. */
  readonly #byOwner = new Map<string, Set<string>>();
  readonly #unfinished = new Set<string>();

  constructor(database: LowdbDatabase) {
    this.#database = database;
    this.#sources = join(database.folder, 'sources');
    database.listen(TABLE, (id, before, after) =>
      this.#index(id, before as JobRecord | undefined, after as JobRecord | undefined),
    );
  }

  async start(): Promise<void> {
    await this.#database.start();
    await mkdir(this.#sources, { recursive: true, mode: 0o700 });
    await this.#removeStraySources();
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
    // As JSON, because source code may hold what UTF-8 can't: lone surrogates.
    await writeDurably(this.#sourcePath(job.jobId), JSON.stringify(source));
    inside.put(TABLE, job.jobId, job);
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

  async readSource(jobId: string): Promise<string | undefined> {
    if (!this.#database.get(TABLE, jobId)) return undefined;
    return JSON.parse(await readFile(this.#sourcePath(jobId), 'utf8')) as string;
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

  /** A crash between a source's write and its job's commit leaves a source that nothing names. */
  async #removeStraySources(): Promise<void> {
    for (const name of await readdir(this.#sources)) {
      const jobId = name.replace(/\.json(\.new)?$/, '');
      const stray = name.endsWith('.new') || !this.#database.get(TABLE, jobId);
      if (stray) await rm(join(this.#sources, name), { force: true });
    }
  }

  #sourcePath(jobId: string): string {
    return join(this.#sources, `${jobId}.json`);
  }
}
