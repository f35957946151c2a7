import assert from 'node:assert/strict';
import { ScenepressError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pricing } from '../../ledger/pricing.ts';
import { SortableIds } from '../../model/ids.ts';
import type { IdempotentRequest, JobRecord } from '../../model/job.ts';
import type { FileSet } from '../../model/owner-file.ts';
import type { FileQuota } from '../../owner-files/file-quota.ts';
import { FileChoice } from '../../owner-files/file-sets.ts';
import type { QueueCaps } from '../../storage/queue/queue.ts';
import type { QueueOptions } from '../../storage/queue/queue-options.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Transaction } from '../../storage/transaction.ts';
import type { Clock } from '../../time/clock.ts';
import type { Fairness } from '../fairness/fairness.ts';
import { insufficientCredits } from './ledger-answers.ts';
import type { NewJob } from './new-job.ts';
import { recordOf } from './new-record.ts';

/** Checks that run in the transaction that adds a job; an error rolls it back. */
export interface AdmissionChecks {
  /** Runs first, also for a repeated request, while the owner is locked; with an external ledger once more at the end. */
  owner?: (tx: Transaction) => Promise<void>;
  /** Whether the service can take another job of this owner; runs before credits are reserved. */
  capacity?: () => void;
}

export interface AdmissionOptions {
  storage: Storage;
  ledger: Ledger;
  pricing: Pricing;
  clock: Clock;
  /** The source of job ids. */
  random: Random;
  /** Default: no limit. */
  caps?: QueueCaps & Pick<QueueOptions, 'maxQueuedOf'>;
  /** Default: all owners have the same precedence. */
  fairness?: Pick<Fairness, 'precedenceOf'>;
  /** Limits which files jobs use. Default: no limit. */
  fileQuota?: Pick<FileQuota, 'assertUses'>;
  /** Encrypts webhook secrets of jobs. */
  secrets?: { seal(secret: string): string };
}

/** A job that was added, or that of an earlier equal request. */
export interface AddedJob {
  job: JobRecord;
  repeated: boolean;
}

/**
 * Adding jobs failed, and so did the rollback, because the ledger or the disk failed: call `JobEnding.complete` for each
 * until it succeeds. `cause`: the first error.
 */
export class StuckError extends Error {
  readonly jobIds: string[];

  constructor(jobIds: string[], cause: unknown) {
    super('The job could be neither added nor rolled back.', { cause });
    this.jobIds = jobIds;
  }
}

const ANY_NUMBER: QueueCaps = {
  maxQueued: Number.POSITIVE_INFINITY,
  maxQueuedPerOwner: Number.POSITIVE_INFINITY,
};

/** Minimum lifetime of an idempotency key. */
export const IDEMPOTENCY_MS: number = 24 * 60 * 60 * 1000;

/**
 * Adds jobs: reserves their credits and puts them into the queue. With an external ledger, the intent is committed
 * first (`reserving`), and rolled back when the reserve or the second commit fails.
 */
export class Admission {
  readonly #storage: Storage;
  readonly #ledger: Ledger;
  readonly #pricing: Pricing;
  readonly #clock: Clock;
  readonly #ids: SortableIds;
  readonly #joined: boolean;
  /** Whether the ledger reads ahead, which saves a round trip to a database server. */
  readonly #prepares: boolean;
  readonly #caps: QueueCaps & Pick<QueueOptions, 'maxQueuedOf'>;
  readonly #fairness: Pick<Fairness, 'precedenceOf'>;
  readonly #fileQuota: Pick<FileQuota, 'assertUses'> | undefined;
  readonly #secrets: { seal(secret: string): string } | undefined;

  constructor(options: AdmissionOptions) {
    const { storage, ledger, clock } = options;
    this.#secrets = options.secrets;
    this.#fileQuota = options.fileQuota;
    this.#caps = options.caps ?? ANY_NUMBER;
    this.#fairness = options.fairness ?? { precedenceOf: () => ({ yields: false, inGoodStanding: true }) };
    this.#storage = storage;
    this.#ledger = ledger;
    this.#pricing = options.pricing;
    this.#clock = clock;
    this.#ids = new SortableIds(clock, options.random);
    this.#joined = ledger.joins(storage);
    this.#prepares = this.#joined && storage.isShared;
  }

  /**
   * Reserves credits and adds jobs of one owner as `queued`, all or none. A repeated request returns the first job, with
   * `repeated: true`. Errors: `insufficient_credits` when the balance is below the reserve, `conflict` when the
   * idempotency key was used for another request, `queue_full`, and errors of the admission checks.
   */
  addAll(newJobs: readonly NewJob[], checks: AdmissionChecks = {}): Promise<AddedJob[]> {
    assert(newJobs.every(({ owner }) => owner === newJobs[0]?.owner));
    return this.#joined ? this.#addAtOnce(newJobs, checks) : this.#addInSteps(newJobs, checks);
  }

  /** Reserves and adds in one transaction. */
  async #addAtOnce(newJobs: readonly NewJob[], checks: AdmissionChecks): Promise<AddedJob[]> {
    const drafts = newJobs.map((newJob) => ({ newJob, unsealed: this.#recordOf(newJob) }));
    const added = await this.#storage.transaction(async (tx) => {
      const jobs: AddedJob[] = [];
      const choice = this.#choiceOf(newJobs[0]?.owner ?? '', tx);
      for (const { newJob, unsealed } of drafts) {
        const { made, files } = await this.#madeBefore(tx, newJob, checks, choice, jobs.length === 0);
        if (made) {
          jobs.push({ job: made, repeated: true });
          continue;
        }
        const reserve = reserveOf(unsealed);
        const answer = await this.#ledger.reserve(reserve, tx);
        if (answer !== 'reserved') {
          const refused = insufficientCredits(this.#ledger, reserve.amountCredits, answer);
          // An error would also roll back what is committed with it.
          if (jobs.length === 0) return { refused };
          throw refused;
        }
        const job = this.#sealed(unsealed, newJob);
        await this.#insert(tx, job, newJob, files);
        await this.#enqueue(tx, job);
        jobs.push({ job, repeated: false });
      }
      return jobs;
    });
    if ('refused' in added) throw added.refused;
    return added;
  }

  /** Reserves between two commits. */
  async #addInSteps(newJobs: readonly NewJob[], checks: AdmissionChecks): Promise<AddedJob[]> {
    const drafts = newJobs.map((newJob) => ({
      newJob,
      unsealed: { ...this.#recordOf(newJob), phase: 'reserving' } as JobRecord,
    }));
    const found = await this.#storage.transaction(async (tx) => {
      const found: (JobRecord | undefined)[] = [];
      const choice = this.#choiceOf(newJobs[0]?.owner ?? '', tx);
      for (const { newJob, unsealed } of drafts) {
        const { made, files } = await this.#madeBefore(tx, newJob, checks, choice, found.length === 0);
        if (!made) await this.#insert(tx, this.#sealed(unsealed, newJob), newJob, files);
        found.push(made);
      }
      return found;
    });
    const left = drafts.filter((_, index) => !found[index]).map(({ unsealed }) => unsealed);
    try {
      for (const unsealed of left) {
        const reserve = reserveOf(unsealed);
        const answer = await this.#ledger.reserve(reserve);
        if (answer !== 'reserved') throw insufficientCredits(this.#ledger, reserve.amountCredits, answer);
      }
      const jobs = left.length === 0 ? [] : await this.#addReserved(left, checks);
      return found.map((made) => {
        const job = made ?? jobs.shift();
        assert(job, 'one for each request');
        return { job, repeated: made !== undefined };
      });
    } catch (error) {
      const stuck: string[] = [];
      // The ledger may or may not have reserved; void is correct in both cases.
      for (const { jobId } of left) await this.withdraw(jobId).catch(() => stuck.push(jobId));
      throw stuck.length > 0 ? new StuckError(stuck, error) : error;
    }
  }

  /** Checks again: during the ledger call, other jobs may have been admitted, or the owner deleted. */
  #addReserved(unsealed: JobRecord[], checks: AdmissionChecks): Promise<JobRecord[]> {
    return this.#storage.transaction(async (tx) => {
      const jobs: JobRecord[] = [];
      for (const { jobId, owner } of unsealed) {
        const isFirst = jobs.length === 0;
        if (checks.owner && isFirst) await this.#storage.lockOwner(tx, owner);
        const caps = await this.#capsOf(tx, owner, checks, isFirst);
        await this.#storage.queue.assertCapacity(tx, owner, caps);
        const reserving = await this.#storage.getJob(jobId, tx);
        if (reserving?.phase !== 'reserving') throw rolledBack();
        const queued: JobRecord = { ...reserving, phase: 'queued' };
        await this.#storage.updateJob(tx, queued);
        await this.#enqueue(tx, queued);
        jobs.push(queued);
      }
      return jobs;
    });
  }

  /**
   * The job of an earlier, equal request; undefined: a job may be added, with these files. The first of several is checked
   * for all.
   */
  async #madeBefore(
    tx: Transaction,
    newJob: NewJob,
    checks: AdmissionChecks,
    choice: FileChoice,
    isFirst: boolean,
  ): Promise<{ made?: JobRecord; files?: FileSet | undefined }> {
    const { owner, idempotency } = newJob;
    // What is called together takes one round trip to a database server.
    const [, request] = await Promise.all([
      checks.owner && isFirst && this.#storage.lockOwner(tx, owner),
      idempotency && this.#storage.getIdempotentRequest(owner, idempotency.key, tx),
    ]);
    const caps = this.#capsOf(tx, owner, checks, isFirst);
    if (request && idempotency) {
      await caps;
      const made = await this.#repeated(tx, request, idempotency);
      if (made) return { made };
    }
    // The queue's lock, then the account's.
    const hasCapacity = Promise.all([
      this.#storage.queue.assertCapacity(tx, owner, caps),
      this.#prepares ? this.#ledger.prepare?.({ owner }, tx) : undefined,
      choice.setOf(newJob),
    ]);
    hasCapacity.catch(() => {}); // Awaited below, unless an earlier check fails.
    await caps;
    if (isFirst) checks.capacity?.();
    const [, , files] = await hasCapacity;
    return { files };
  }

  /** The job of an earlier, equal request. Error: `conflict` when the key was used for another request. */
  async #repeated(
    tx: Transaction,
    request: IdempotentRequest,
    { fingerprint }: { fingerprint: string },
  ): Promise<JobRecord | undefined> {
    // Its age is not checked: the clock may be wrong.
    if (request.fingerprint !== fingerprint) {
      throw new ScenepressError(
        'conflict',
        'This Idempotency-Key was used for another request. Use a new key.',
      );
    }
    const job = await this.#storage.getJob(request.jobId, tx);
    if (job?.phase === 'reserving') {
      throw new ScenepressError(
        'conflict',
        'The request with this Idempotency-Key is still being processed. Try again later.',
      );
    }
    return job; // Undefined when its reserve was refused: the request can be repeated.
  }

  /**
   * The caps of an admitted owner. The owner is locked before, so that a deletion by another process is either known here
   * or waits for this job.
   */
  async #capsOf(
    tx: Transaction,
    owner: string,
    { owner: admitOwner }: AdmissionChecks,
    isFirst: boolean,
  ): Promise<QueueCaps> {
    const [own] = await Promise.all([
      this.#caps.maxQueuedOf?.(owner, tx),
      isFirst ? admitOwner?.(tx) : undefined,
    ]);
    return own === undefined ? this.#caps : { ...this.#caps, maxQueuedPerOwner: own };
  }

  /** Rolls back a job that is `reserving`: it was never visible. Does nothing in other phases. */
  async withdraw(jobId: string): Promise<void> {
    const reserving = await this.#storage.transaction(async (tx) => {
      const job = await this.#storage.getJob(jobId, tx);
      if (job?.phase !== 'reserving') return undefined;
      // Rewritten, so a failed write that resurfaces after a crash cannot contradict later ones.
      await this.#storage.updateJob(tx, job);
      return job;
    });
    if (!reserving) return;
    await this.#ledger.void({ jobId, owner: reserving.owner });
    await this.#storage.transaction(async (tx) => {
      await this.#storage.lockOwner(tx, reserving.owner);
      const job = await this.#storage.getJob(jobId, tx);
      if (job?.phase === 'reserving') await this.#storage.deleteJob(tx, jobId);
    });
  }

  /** Removes expired idempotency keys. Call it only while the clock can be trusted. */
  async forgetOldRequests(): Promise<void> {
    const before = this.#clock.now() - IDEMPOTENCY_MS;
    const removeSome = (tx: Transaction) => this.#storage.removeIdempotentRequests(tx, before);
    while (await this.#storage.transaction(removeSome));
  }

  async #insert(tx: Transaction, job: JobRecord, newJob: NewJob, files: FileSet | undefined): Promise<void> {
    const { request, idempotency, earlierJobId, scene } = newJob;
    const { jobId, owner, createdAtMs } = job;
    await this.#storage.insertJob(tx, job, request.code);
    if (files) await this.#storage.files.use(tx, jobId, files);
    if (earlierJobId !== undefined) await this.#storage.videos.noteEarlier(tx, jobId, earlierJobId);
    if (scene) await this.#storage.scenes.addVersion(tx, { ...scene, jobId, owner, atMs: createdAtMs });
    if (!idempotency) return;
    await this.#storage.putIdempotentRequest(tx, { ...idempotency, owner, jobId, createdAtMs });
  }

  #choiceOf(owner: string, tx: Transaction): FileChoice {
    return new FileChoice(this.#storage.files, owner, tx, this.#fileQuota);
  }

  #enqueue(tx: Transaction, { jobId, owner }: JobRecord): Promise<void> {
    return this.#storage.queue.admit(tx, { jobId, owner, precedence: this.#fairness.precedenceOf(owner) });
  }

  #recordOf(newJob: NewJob): JobRecord {
    return recordOf(newJob, {
      jobId: this.#ids.next(),
      reserveCredits: this.#ledger.chargesNothing ? 0 : this.#pricing.reserveCredits(newJob.request.quality),
      createdAtMs: this.#clock.now(),
    });
  }

  /** Called in the transaction, so the master key cannot be rotated concurrently. */
  #sealed(job: JobRecord, { webhookSecret }: NewJob): JobRecord {
    return webhookSecret === undefined ? job : { ...job, webhookSecretSealed: this.#seal(webhookSecret) };
  }

  #seal(secret: string): string {
    assert(this.#secrets, '`secrets` is required for jobs with webhook secrets');
    return this.#secrets.seal(secret);
  }
}

function reserveOf({ jobId, owner, reserveCredits }: JobRecord): {
  jobId: string;
  owner: string;
  amountCredits: number;
} {
  return { jobId, owner, amountCredits: reserveCredits };
}

function rolledBack(): ScenepressError {
  const message =
    'Reserving credits for the job took so long that another process rolled it back. Nothing was changed; try again.';
  return new ScenepressError('storage_failed', message);
}
