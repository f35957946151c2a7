import type { JobRecord } from '../../model/job.ts';
import { statusOf } from '../../model/job.ts';
import type { FoundLabels } from '../../model/job-search.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Clock } from '../../time/clock.ts';
import { TimeSlice } from '../../time/time-slice.ts';
import { JobIndex, type Wanted } from './job-index.ts';

export type IndexedStorage = Pick<
  Storage,
  'getJob' | 'jobStates' | 'listJobs' | 'readSource' | 'relabeledJobs'
>;

const PAGE = 50;
/** Longer than clocks of machines differ and transactions take: changes of that time are read again. */
const OVERLAP_MS = 60_000;
const MOST_RELABELED = 10_000;

export interface OwnerIndexOptions {
  storage: IndexedStorage;
  clock: Clock;
  /** Undefined: jobs of all owners. */
  owner: string | undefined;
  /** What it may take in memory: older jobs are left out. */
  mostBytes: number;
}

/**
 * The jobs of an owner, in memory. Reads the newest first, a few at a time, and before each search what has changed since the
 * last, also by other processes.
 */
export class OwnerIndex {
  readonly #options: OwnerIndexOptions;
  readonly #jobs = new JobIndex();
  readonly #slice: TimeSlice;
  #isComplete = false;
  #oldest: string | undefined;
  /** Newer jobs are read again: ids of several processes are not in the order of their commits. */
  #settled: { jobId: string; atMs: number } | undefined;
  #newest: { jobId: string; atMs: number } | undefined;
  #syncedMs: number;
  #filling: Promise<void> | undefined;
  #page: Promise<void> = Promise.resolve();
  #syncing: Promise<void> | undefined;
  #isDropped = false;

  constructor(options: OwnerIndexOptions) {
    this.#options = options;
    this.#slice = new TimeSlice(options.clock);
    this.#syncedMs = options.clock.now();
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  get sizeBytes(): number {
    return this.#jobs.sizeBytes;
  }

  /** The oldest job that has been read. */
  get oldest(): string | undefined {
    return this.#oldest;
  }

  /** Ends reading. */
  drop(): void {
    this.#isDropped = true;
    this.#isComplete = true;
  }

  forget(jobId: string): void {
    this.#jobs.remove(jobId);
  }

  purge(): void {
    this.#jobs.purge();
  }

  find(wanted: Wanted): string[] {
    return this.#jobs.find(wanted);
  }

  labels(): FoundLabels {
    return this.#jobs.labels();
  }

  /** Reads what has changed. */
  async sync(): Promise<void> {
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined;
    });
    await this.#syncing;
  }

  /** Resolves when more jobs have been read; rejects with the error of a read. */
  async more(): Promise<void> {
    this.#fillOn();
    await this.#page;
  }

  #fillOn(): void {
    if (this.#isComplete || this.#filling !== undefined) return;
    this.#filling = this.#fill().finally(() => {
      this.#filling = undefined;
    });
    // Reported by `more`.
    this.#filling.catch(() => {});
  }

  async #fill(): Promise<void> {
    while (!this.#isComplete && !this.#isDropped) {
      // With a turn of the event loop, which who waits for more would otherwise never end.
      this.#page = this.#readPage().then(() => this.#slice.end());
      await this.#page;
    }
  }

  async #readPage(): Promise<void> {
    const { mostBytes } = this.#options;
    const jobs = await this.#list(this.#oldest === undefined ? {} : { before: this.#oldest });
    await this.#add(jobs, 'older');
    if (this.#newest === undefined) this.#noteNewest(jobs[0]);
    this.#oldest = jobs.at(-1)?.jobId ?? this.#oldest;
    if (jobs.length < PAGE || this.sizeBytes > mostBytes) this.#isComplete = true;
  }

  async #sync(): Promise<void> {
    this.#fillOn();
    if (this.#newest === undefined) await this.#page;
    const { storage, clock, owner } = this.#options;
    const now = clock.now();
    await this.#readNewer();
    const unfinished = new Map(this.#jobs.unfinished());
    for (const { jobId, phase } of await storage.jobStates([...unfinished.keys()])) {
      const hasChanged = phase !== 'reserving' && statusOf(phase) !== unfinished.get(jobId);
      const job = hasChanged ? await storage.getJob(jobId) : undefined;
      if (job) this.#jobs.update(job);
    }
    const relabeled = await storage.relabeledJobs({
      sinceMs: this.#syncedMs - OVERLAP_MS,
      limit: MOST_RELABELED,
      ...(owner !== undefined && { owner }),
    });
    for (const jobId of relabeled) {
      const job = await storage.getJob(jobId);
      if (job) this.#jobs.update(job);
    }
    this.#syncedMs = now;
    this.#jobs.purge();
  }

  async #readNewer(): Promise<void> {
    const after = this.#settled?.jobId ?? this.#newest?.jobId;
    const newer: JobRecord[] = [];
    for (let before: string | undefined; ; ) {
      const page = await this.#list({
        ...(after !== undefined && { after }),
        ...(before !== undefined && { before }),
      });
      newer.push(...page.filter(({ jobId }) => !this.#jobs.has(jobId)));
      if (page.length < PAGE) break;
      before = page.at(-1)?.jobId;
    }
    await this.#add(newer.reverse(), 'newer');
    this.#noteNewest(newer.at(-1));
  }

  #noteNewest(job: JobRecord | undefined): void {
    const atMs = this.#options.clock.now();
    if (this.#newest && atMs - this.#newest.atMs > OVERLAP_MS) this.#settled = this.#newest;
    if (job) this.#newest = { jobId: job.jobId, atMs };
  }

  #list(range: { before?: string; after?: string }): Promise<JobRecord[]> {
    const { storage, owner } = this.#options;
    return storage.listJobs({ ...range, limit: PAGE, ...(owner !== undefined && { owner }) });
  }

  async #add(jobs: JobRecord[], place: 'newer' | 'older'): Promise<void> {
    const codes = await Promise.all(jobs.map(({ jobId }) => this.#options.storage.readSource(jobId)));
    for (const [i, job] of jobs.entries()) {
      if (this.#slice.isLong) await this.#slice.end();
      if (job.forgottenAtMs === undefined) this.#jobs.add(job, codes[i] ?? '', place);
    }
  }
}
