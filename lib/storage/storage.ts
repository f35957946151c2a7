import type { ResealedStep, ResealStep } from '../keys/sealed-secrets.ts';
import type {
  EndedRender,
  IdempotentRequest,
  JobRecord,
  JobState,
  JobStatus,
  RenderTrace,
  UnfinishedPhase,
} from '../model/job.ts';
import type { JobCountQuery, JobQuery } from '../model/job-list-query.ts';
import type { FileRecord } from '../model/owner-file.ts';
import type { EndedSum } from '../model/usage.ts';
import type { AssignmentStore } from './assignment-store.ts';
import type { ClassLinkStore } from './class-link-store.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { FileStore } from './file-store.ts';
import type { IndexedVideoStore } from './indexed-videos.ts';
import type { InstallationRecords } from './installation-records.ts';
import type { Queue } from './queue/queue.ts';
import type { SceneStore } from './scene-store.ts';
import type { SettingsStore } from './settings-store.ts';
import type { ShareStore } from './share-store.ts';
import type { Signals } from './signals.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import type { Transaction, TransactionOptions } from './transaction.ts';

/**
 * The store of jobs, as the parts of a service use it. In an SQL database it is `SqlStorage`.
 *
 * - A transaction is atomic, isolated from other transactions, and durable when its promise resolves: a power loss
 *   afterwards must not lose it.
 * - A transaction whose work throws is rolled back and rejects with that error.
 * - When a commit fails, later reads must not see any of it; reject with a `storage_failed` error.
 * - Several methods may be called with the same `tx` at the same time; they take effect in the order of the calls.
 * - Methods that take `tx` must be called inside the transaction it belongs to. Reads without `tx` see what is
 *   committed, reads with it also what the transaction itself wrote.
 */
export interface Storage {
  /** The webhook deliveries. They commit together with the jobs. */
  readonly deliveries: DeliveryStore;
  /** The queue. It commits together with the jobs. */
  readonly queue: Queue;
  /** Which jobs left a video with an index. It commits together with the jobs. */
  readonly videos: IndexedVideoStore;
  /** Pictures without a job. They commit together with the jobs. */
  readonly snapshots: SnapshotStore;
  /** The files of owners. They commit together with the jobs. */
  readonly files: FileStore;
  /** Links to videos. They commit together with the jobs. */
  readonly shares: ShareStore;
  /** The scenes of owners. They commit together with the jobs. */
  readonly scenes: SceneStore;
  /** Links to code that others get as scenes. They commit together with the scenes. */
  readonly assignments: AssignmentStore;
  /** Links under which people make accounts. */
  readonly classLinks: ClassLinkStore;
  /** Whether other processes may claim its jobs when leases expire. */
  readonly isShared: boolean;
  /** Whether writes fail because the disk of the database is full; undefined if the storage does not know. */
  readonly isFull?: boolean;
  /** The settings kept in the same database, if any: the service uses them unless it is given others. */
  readonly settings?: SettingsStore;
  /** Signals between the processes that use it, if any: the service uses them unless it is given others. */
  readonly signals?: Signals;
  /**
   * The installation that the data belongs to, if the storage recognizes a copy of itself: the service then shares no
   * asset store with the original.
   */
  readonly installation?: InstallationRecords;

  /** Opens the store; calling it again while open does nothing. */
  start(): Promise<void>;
  /** Waits for running transactions, then closes. The store can be started again. */
  stop(): Promise<void>;

  /**
   * Runs `work` and commits its writes. `work` may run more than once, from the beginning: after a conflict, or when a
   * transaction failed that would have been committed with it. It must therefore have no effects but its writes.
   *
   * Where transactions run at the same time, what one reads with its `tx` must stay as it is until it ends: lock the rows
   * that are read. What has no row yet is locked by name, as {@link Storage.lockOwner} does, or refused by a unique index,
   * after which `work` runs again.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;

  /**
   * Runs `work` unless a task of that name is already running in this or another process; then resolves with
   * undefined.
   */
  alone<T>(task: string, work: () => Promise<T>): Promise<T | undefined>;

  /**
   * Takes or renews the lease of an exclusive task for `forMs`. False while another holder's lease is valid. With
   * `forMs` 0, releases it. Only in storages that several processes share.
   */
  lead?(task: string, holder: string, forMs: number): Promise<boolean>;

  /**
   * The time at which the transaction began, or the present, by the clock of the database, in epoch milliseconds. Leases
   * end and deliveries are due by it in storages that several machines share, whose clocks may differ.
   */
  nowMs?(tx?: Transaction): Promise<number>;

  /**
   * Waits until no other transaction has locked this owner, who may have no job yet, and keeps the lock until this one
   * ends. Does nothing where transactions run one at a time.
   */
  lockOwner(tx: Transaction, owner: string): Promise<void>;

  /** Adds a job with the source code of its scene. A `jobId` must not be reused. */
  insertJob(tx: Transaction, job: JobRecord, source: string): Promise<void>;
  /** Replaces the record of an existing job. */
  updateJob(tx: Transaction, job: JobRecord): Promise<void>;
  /** Replaces the labels of a job, which may be terminal, and records the time, which grows with each change. */
  relabelJob(tx: Transaction, job: JobRecord, atMs: number): Promise<void>;
  /** The ids of jobs whose labels were changed at that time or later, oldest change first. */
  relabeledJobs(page: { sinceMs: number; owner?: string; limit: number }): Promise<string[]>;
  /** Removes a job that never became visible (phase `reserving`), with its source. Needs the owner's lock. */
  deleteJob(tx: Transaction, jobId: string): Promise<void>;

  /**
   * Replaces the record of a terminal job by one without its content; removes its source, its idempotent requests, and it from
   * shares. Needs the owner's lock. Returns what {@link FileStore.release} does.
   */
  forgetJob(tx: Transaction, job: JobRecord): Promise<FileRecord[]>;
  /**
   * Checks the integrity of all stored data in the background, such as indexes against their tables; returns a
   * sentence per problem. Called every night.
   */
  check?(): Promise<string[]>;
  /**
   * Resolves when the disk no longer contains data that was replaced or removed before the call; in a storage with
   * `purgeDue`, when the next call of that will remove it.
   */
  purge(): Promise<void>;
  /** Removes from the disk what was put off, because others have to wait meanwhile. Called every hour. */
  purgeDue?(): Promise<void>;

  /** Undefined if there is none. */
  getIdempotentRequest(owner: string, key: string, tx: Transaction): Promise<IdempotentRequest | undefined>;
  /** Adds the request, or replaces that of the same owner and key. */
  putIdempotentRequest(tx: Transaction, request: IdempotentRequest): Promise<void>;
  /** Removes requests created before that time, at most some; returns whether there may be more. */
  removeIdempotentRequests(tx: Transaction, createdBeforeMs: number): Promise<boolean>;

  /** Undefined if there is none. */
  getJob(jobId: string, tx?: Transaction): Promise<JobRecord | undefined>;
  /** The states of the jobs with these ids that exist, in any order; any number of ids, each once. */
  jobStates(jobIds: readonly string[]): Promise<JobState[]>;
  /** Visible jobs (not `reserving`), newest first. */
  listJobs(query: JobQuery): Promise<JobRecord[]>;
  /** The number of visible jobs with each status. */
  countJobs(query: JobCountQuery): Promise<Record<JobStatus, number>>;
  /** Non-terminal jobs, oldest first; at most 100, newer than `after`. `phases`: only jobs in these phases. */
  unfinishedJobs(page?: { after?: string; phases?: UnfinishedPhase[] }): Promise<JobRecord[]>;
  /** Terminal jobs whose ids sort behind `after`, newest first; at most `limit`. */
  recentEnds(page: { after: string; limit: number }): Promise<EndedRender[]>;
  /** Terminal jobs of an owner whose ids sort behind `after`, summed by the day of their end, API key and failure. */
  endedSums(owner: string, after: string): Promise<EndedSum[]>;
  /** Completed jobs whose artifacts have not been removed, oldest first. */
  jobsWithArtifacts(): AsyncIterable<JobRecord>;
  /**
   * The size of what is stored of an owner's jobs, in bytes: their texts, such as sources and metadata, and artifacts
   * that have not been removed; and of the owner's snapshots. Reads many jobs in several steps, between which others take their turns. Optional:
   * without it, owners have no limit.
   */
  storedBytes?(owner: string): Promise<number>;
  /** Records that a job's artifacts have been removed; the job record does not change. */
  noteArtifactsRemoved(tx: Transaction, jobId: string, atMs: number): Promise<void>;

  /**
   * Re-encrypts the secrets of jobs, terminal ones included, with `reseal`: one step, in its own transaction. The
   * steps cover all writes of transactions that began before the first step. See {@link DeliveryStore.resealSecrets}
   * for deliveries.
   */
  resealSecrets(step: ResealStep): Promise<ResealedStep>;

  /** Stores the reports of a job's render. Called once, in the transaction that fixes its outcome. */
  putTrace(tx: Transaction, jobId: string, trace: RenderTrace): Promise<void>;
  /** The reports of the render; empty where nothing is stored. */
  readTrace(jobId: string): Promise<RenderTrace>;

  /** The scene's source code, verbatim. */
  readSource(jobId: string): Promise<string | undefined>;
}
