import type { JobPhase, JobRecord, JobStatus } from '../jobs/job.ts';
import type { Queue } from '../queue/queue.ts';
import type { DeliveryStore } from '../webhooks/delivery-store.ts';

/**
 * A handle on one open transaction, opaque to everyone but the store that made it. It is passed along so that
 * several stores of one database (jobs, deliveries, ledger) commit together.
 */
export interface Transaction {
  readonly store: object;
}

/** Which jobs to list. Newest first. */
export interface JobQuery {
  owner?: string;
  status?: JobStatus;
  /** At most this many; default 50. */
  limit?: number;
  /** Only jobs older than this one: the last `jobId` of the page before. */
  before?: string;
}

/** How a job ended, and whose it was. */
export type EndedRender = Pick<JobRecord, 'owner' | 'phase' | 'failedBy' | 'durationMs' | 'completedAtMs'>;

/** The phases of jobs that aren't terminal. */
export type UnfinishedPhase = Exclude<JobPhase, 'completed' | 'failed'>;

/** A request that may be sent again without making a second job. */
export interface IdempotentRequest {
  owner: string;
  /** The client's own name for the request. */
  key: string;
  /** Tells whether another request by that name is the same one. */
  fingerprint: string;
  /** The job that it made. */
  jobId: string;
  createdAtMs: number;
}

/** One step through all secrets that are kept sealed. */
export interface ResealStep {
  /** The same secret, sealed again; where that isn't needed, the same text. */
  reseal: (sealed: string) => string;
  /** Where the step before ended; undefined: at the beginning. */
  from?: string | undefined;
  /** At most so many are replaced. */
  limit: number;
}

export interface ResealedStep {
  replaced: number;
  /** Where to go on; undefined: nothing is left but what was written meanwhile. */
  next: string | undefined;
}

/**
 * Where jobs live. Implement it to keep them in a database of your own.
 *
 * - A transaction is atomic, isolated from other transactions, and durable when its promise resolves: a power cut
 *   afterwards must not lose it.
 * - A transaction whose work throws leaves no trace and rejects with what was thrown.
 * - When a commit fails, nothing of it may be seen by later reads; reject with a `storage_failed` error.
 * - Methods that take `tx` must be called inside the transaction it belongs to. Reads without `tx` see what is
 *   committed, reads with it also what the transaction itself wrote.
 */
export interface Storage {
  /** The sendings of outcomes to webhooks. They commit together with the jobs. */
  readonly deliveries: DeliveryStore;
  /** Which jobs wait and which run. It commits together with the jobs, too. */
  readonly queue: Queue;
  /** Other processes may claim its jobs: a lease that isn't renewed ends. */
  readonly isShared: boolean;

  /** Opens the store; calling it again while open does nothing. */
  start(): Promise<void>;
  /** Waits for running transactions, then closes. The store can be started again. */
  stop(): Promise<void>;

  /** Runs `work`, then commits what it wrote. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;

  /**
   * Runs `work` unless a task of that name is under way already, in this process or another: then the answer is undefined.
   */
  alone<T>(task: string, work: () => Promise<T>): Promise<T | undefined>;

  /** Adds a job with the source code of its scene. A `jobId` is used once only. */
  insertJob(tx: Transaction, job: JobRecord, source: string): Promise<void>;
  /** Replaces the record of a job that exists. */
  updateJob(tx: Transaction, job: JobRecord): Promise<void>;
  /** Removes a job that never became visible (phase `reserving`), with its source. */
  deleteJob(tx: Transaction, jobId: string): Promise<void>;

  /**
   * Replaces the record of a terminal job by one without what its owner wrote; removes its source and the requests that
   * made it.
   */
  forgetJob(tx: Transaction, job: JobRecord): Promise<void>;
  /**
   * Reads all that is stored, as long as that takes, beside everything else: a sentence for each place that contradicts
   * others, as an index its table. Rows that it hides would be missed by no one. Called every night.
   */
  check?(): Promise<string[]>;
  /** Resolves when nothing that was replaced or removed before the call is on the medium any more. */
  purge(): Promise<void>;

  getIdempotentRequest(owner: string, key: string, tx: Transaction): Promise<IdempotentRequest | undefined>;
  /** Adds it, or replaces one of the same owner and key. */
  putIdempotentRequest(tx: Transaction, request: IdempotentRequest): Promise<void>;
  /** Removes those that are older. */
  removeIdempotentRequests(tx: Transaction, createdBeforeMs: number): Promise<void>;

  getJob(jobId: string, tx?: Transaction): Promise<JobRecord | undefined>;
  /** Visible jobs (not `reserving`), newest first. */
  listJobs(query: JobQuery): Promise<JobRecord[]>;
  /** Jobs that aren't terminal, oldest first; `phases`: only those in one of them. At most 100, newer than `after`. */
  unfinishedJobs(page?: { after?: string; phases?: UnfinishedPhase[] }): Promise<JobRecord[]>;
  /** Terminal jobs whose ids sort behind `after`, newest first; at most `limit`. */
  recentEnds(page: { after: string; limit: number }): Promise<EndedRender[]>;
  /** Completed jobs whose artifacts have not been removed, oldest first. */
  jobsWithArtifacts(): AsyncIterable<JobRecord>;
  /** Notes that a job's artifacts are removed; the job itself doesn't change. */
  noteArtifactsRemoved(tx: Transaction, jobId: string, atMs: number): Promise<void>;

  /**
   * Replaces secrets that came with jobs, of jobs that are over too, by what `reseal` makes of them: one step, in a
   * transaction of its own. What transactions wrote that began before the first step is among them. {@link DeliveryStore.resealSecrets} does so with those of deliveries.
   */
  resealSecrets(step: ResealStep): Promise<ResealedStep>;

  /** The scene's source code exactly as it was inserted. */
  readSource(jobId: string): Promise<string | undefined>;
}
