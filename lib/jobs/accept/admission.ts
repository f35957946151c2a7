import assert from 'node:assert/strict';
import { InProgress } from '../../async/in-progress.ts';
import { ScenepressError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Pricing } from '../../ledger/pricing.ts';
import { SortableIds } from '../../model/ids.ts';
import type { IdempotentRequest, JobRecord } from '../../model/job.ts';
import type { JobEvents } from '../../model/job-events.ts';
import { QUALITIES } from '../../model/qualities.ts';
import type { QueueCaps } from '../../storage/queue/queue.ts';
import type { QueueOptions } from '../../storage/queue/queue-options.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Transaction } from '../../storage/transaction.ts';
import type { Clock } from '../../time/clock.ts';
import type { Fairness } from '../fairness/fairness.ts';
import { insufficientCredits } from './ledger-answers.ts';
import type { NewJob } from './new-job.ts';
import type { StoredBytes } from './stored-bytes.ts';

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
  /** Encrypts webhook secrets of jobs. */
  secrets?: { seal(secret: string): string };
}

/** What {@link Admission.accept} needs besides. */
export interface AcceptOptions {
  /** Whether jobs of an owner are accepted; undefined: those of all owners. */
  admitsOwner: ((owner: string, tx: Transaction) => Promise<boolean> | boolean) | undefined;
  fairness: Pick<Fairness, 'assertWithinBudget' | 'assertWithinRate'>;
  storedBytes: Pick<StoredBytes, 'problemOf' | 'added'>;
  /** Refuses jobs while the disk is full. */
  gate: { assertDiskNotFull(): void };
  events: JobEvents;
  /** Called with the id of a job that could be neither added nor rolled back, which must be completed. */
  onStuck: (jobId: string) => void;
}

/**
 * Adding a job failed, and so did the rollback, because the ledger or the disk failed: call `JobEnding.complete`
 * until it succeeds. `cause`: the first error.
 */
export class StuckError extends Error {
  readonly jobId: string;

  constructor(jobId: string, cause: unknown) {
    super('The job could be neither added nor rolled back.', { cause });
    this.jobId = jobId;
  }
}

const ANY_NUMBER: QueueCaps = {
  maxQueued: Number.POSITIVE_INFINITY,
  maxQueuedPerOwner: Number.POSITIVE_INFINITY,
};

/** Minimum lifetime of an idempotency key. */
export const IDEMPOTENCY_MS: number = 24 * 60 * 60 * 1000;

/**
 * Accepts jobs: checks whether their owner may add them, reserves the credits and puts them into the queue. With an external ledger, the intent is committed
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
  readonly #secrets: { seal(secret: string): string } | undefined;
  readonly #accept: AcceptOptions | undefined;
  readonly #inProgress = new InProgress();

  /** `accept`: for {@link Admission.accept}. */
  constructor(options: AdmissionOptions, accept?: AcceptOptions) {
    this.#accept = accept;
    const { storage, ledger, clock } = options;
    this.#secrets = options.secrets;
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
   * Returns the new job, or that of an earlier equal request. Errors: those of {@link Admission.add}, `owner_refused`, and
   * those of exceeded budgets and limits.
   */
  accept(newJob: NewJob): Promise<JobRecord> {
    assert(this.#accept, 'it has no options for that');
    return this.#inProgress.add(this.#acceptNow(newJob, this.#accept));
  }

  /** Resolves when all requests in progress have been accepted or rejected. */
  settled(): Promise<void> {
    return this.#inProgress.settled();
  }

  async #acceptNow(newJob: NewJob, options: AcceptOptions): Promise<JobRecord> {
    const { admitsOwner, fairness, storedBytes, gate, events, onStuck } = options;
    const { owner } = newJob;
    const assertAdmitted = async (tx: Transaction) => {
      if (await admitsOwner?.(owner, tx)) return;
      throw ownerRefused();
    };
    let isCounted = false;
    const overLimit = await storedBytes.problemOf(owner);
    try {
      const { job, repeated } = await this.add(newJob, {
        ...(admitsOwner && { owner: assertAdmitted }),
        capacity: () => {
          gate.assertDiskNotFull();
          fairness.assertWithinBudget(owner);
          if (overLimit) throw overLimit;
          // Once, though the transaction may be repeated.
          if (!isCounted) fairness.assertWithinRate(owner);
          isCounted = true;
        },
      });
      if (!repeated) {
        storedBytes.added(job, newJob.request.code);
        events.emit('change', job);
      }
      return job;
    } catch (error) {
      if (!(error instanceof StuckError)) throw error;
      onStuck(error.jobId);
      throw error.cause;
    }
  }

  /**
   * Reserves credits and adds the job as `queued`. A repeated request returns the first job, with `repeated: true`.
   * Errors: `insufficient_credits` when the balance is below the reserve, `conflict` when the idempotency key was
   * used for another request, `queue_full`, and errors of the admission checks.
   */
  add(newJob: NewJob, checks: AdmissionChecks = {}): Promise<{ job: JobRecord; repeated: boolean }> {
    return this.#joined ? this.#addAtOnce(newJob, checks) : this.#addInSteps(newJob, checks);
  }

  /** Reserves and adds in one transaction. */
  async #addAtOnce(newJob: NewJob, checks: AdmissionChecks): Promise<{ job: JobRecord; repeated: boolean }> {
    const unsealed = this.#recordOf(newJob);
    const reserve = reserveOf(unsealed);
    const added = await this.#storage.transaction(async (tx) => {
      const made = await this.#madeBefore(tx, newJob, checks);
      if (made) return { job: made, repeated: true };
      const answer = await this.#ledger.reserve(reserve, tx);
      if (answer !== 'reserved') return { refused: answer };
      const job = this.#sealed(unsealed, newJob);
      await this.#insert(tx, job, newJob);
      await this.#enqueue(tx, job);
      return { job, repeated: false };
    });
    if ('refused' in added) throw insufficientCredits(this.#ledger, reserve.amountCredits, added.refused);
    return added;
  }

  /** Reserves between two commits. */
  async #addInSteps(newJob: NewJob, checks: AdmissionChecks): Promise<{ job: JobRecord; repeated: boolean }> {
    const unsealed: JobRecord = { ...this.#recordOf(newJob), phase: 'reserving' };
    const { jobId } = unsealed;
    const made = await this.#storage.transaction(async (tx) => {
      const made = await this.#madeBefore(tx, newJob, checks);
      if (!made) await this.#insert(tx, this.#sealed(unsealed, newJob), newJob);
      return made;
    });
    if (made) return { job: made, repeated: true };
    try {
      const reserve = reserveOf(unsealed);
      const answer = await this.#ledger.reserve(reserve);
      if (answer !== 'reserved') throw insufficientCredits(this.#ledger, reserve.amountCredits, answer);
      const job = await this.#storage.transaction((tx) => this.#addReserved(tx, unsealed, checks));
      return { job, repeated: false };
    } catch (error) {
      // The ledger may or may not have reserved; void is correct in both cases.
      await this.withdraw(jobId).catch(() => {
        throw new StuckError(jobId, error);
      });
      throw error;
    }
  }

  /** Checks again: during the ledger call, other jobs may have been admitted, or the owner deleted. */
  async #addReserved(
    tx: Transaction,
    { jobId, owner }: JobRecord,
    checks: AdmissionChecks,
  ): Promise<JobRecord> {
    if (checks.owner) await this.#storage.lockOwner(tx, owner);
    await this.#storage.queue.assertCapacity(tx, owner, await this.#capsOf(tx, owner, checks));
    const reserving = await this.#storage.getJob(jobId, tx);
    if (reserving?.phase !== 'reserving') throw rolledBack();
    const queued: JobRecord = { ...reserving, phase: 'queued' };
    await this.#storage.updateJob(tx, queued);
    await this.#enqueue(tx, queued);
    return queued;
  }

  /** The job of an earlier, equal request; undefined: a job may be added. */
  async #madeBefore(
    tx: Transaction,
    { owner, idempotency }: NewJob,
    checks: AdmissionChecks,
  ): Promise<JobRecord | undefined> {
    // What is called together takes one round trip to a database server.
    const [, request] = await Promise.all([
      checks.owner && this.#storage.lockOwner(tx, owner),
      idempotency && this.#storage.getIdempotentRequest(owner, idempotency.key, tx),
    ]);
    const caps = this.#capsOf(tx, owner, checks);
    if (request && idempotency) {
      await caps;
      const made = await this.#repeated(tx, request, idempotency);
      if (made) return made;
    }
    // The queue's lock, then the account's.
    const hasCapacity = Promise.all([
      this.#storage.queue.assertCapacity(tx, owner, caps),
      this.#prepares ? this.#ledger.prepare?.({ owner }, tx) : undefined,
    ]);
    hasCapacity.catch(() => {}); // Awaited below, unless an earlier check fails.
    await caps;
    checks.capacity?.();
    await hasCapacity;
    return undefined;
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
  async #capsOf(tx: Transaction, owner: string, { owner: admitOwner }: AdmissionChecks): Promise<QueueCaps> {
    const [own] = await Promise.all([this.#caps.maxQueuedOf?.(owner, tx), admitOwner?.(tx)]);
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

  async #insert(tx: Transaction, job: JobRecord, newJob: NewJob): Promise<void> {
    const { request, idempotency, earlierJobId } = newJob;
    const { jobId, owner, createdAtMs } = job;
    await this.#storage.insertJob(tx, job, request.code);
    if (earlierJobId !== undefined) await this.#storage.videos.noteEarlier(tx, jobId, earlierJobId);
    if (!idempotency) return;
    await this.#storage.putIdempotentRequest(tx, { ...idempotency, owner, jobId, createdAtMs });
  }

  #enqueue(tx: Transaction, { jobId, owner }: JobRecord): Promise<void> {
    return this.#storage.queue.admit(tx, { jobId, owner, precedence: this.#fairness.precedenceOf(owner) });
  }

  /** The record of a new job, without its webhook secret. */
  #recordOf(newJob: NewJob): JobRecord {
    const { owner, request, metadataJson, webhookUrl, keyId } = newJob;
    return {
      jobId: this.#ids.next(),
      owner,
      phase: 'queued',
      className: request.className,
      quality: request.quality,
      aspectRatio: request.aspectRatio,
      fps: request.fps ?? QUALITIES[request.quality].fps,
      title: newJob.title ?? null,
      tags: newJob.tags ? [...newJob.tags] : null,
      seed: newJob.seed ?? null,
      metadataJson,
      webhookUrl,
      keyId,
      reserveCredits: this.#ledger.chargesNothing ? 0 : this.#pricing.reserveCredits(request.quality),
      attempts: 0,
      createdAtMs: this.#clock.now(),
      startedAtMs: null,
      completedAtMs: null,
      durationMs: null,
      creditsCost: 0,
      usage: null,
      outcome: null,
      artifacts: [],
      error: null,
      diagnosis: null,
    };
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

/** The error for an owner who may add nothing. */
export function ownerRefused(): ScenepressError {
  return new ScenepressError('owner_refused', 'Jobs of this owner are not accepted.');
}

function rolledBack(): ScenepressError {
  const message =
    'Reserving credits for the job took so long that another process rolled it back. Nothing was changed; try again.';
  return new ScenepressError('storage_failed', message);
}
