import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { SortableIds } from '../ids.ts';
import type { Ledger, ReserveAnswer } from '../ledger/ledger.ts';
import type { Pricing } from '../ledger/pricing.ts';
import { type Logger, silentLogger } from '../logger.ts';
import { allRowsAfter } from '../pages.ts';
import type { Claim, QueueCaps } from '../queue/queue.ts';
import type { QueueOptions } from '../queue/queue-options.ts';
import type { Random } from '../random.ts';
import type { Storage, Transaction } from '../storage/storage.ts';
import type { JobOutcome, JobRecord, UnfinishedPhase } from './job.ts';
import { JobClaims } from './job-claims.ts';
import { type EndedJob, type FinishOptions, JobEnding, type Outcomes } from './job-ending.ts';
import type { Owners } from './owners.ts';
import { defaultFps } from './qualities.ts';
import type { ValidRenderRequest } from './render-request.ts';
import { StuckError } from './stuck-error.ts';

/** The data of a new job. */
export interface NewJob {
  owner: string;
  request: ValidRenderRequest;
  metadataJson: string | null;
  webhookUrl: string | null;
  keyId: string | null;
  /** A signing secret for its webhook, used instead of the key's. */
  webhookSecret?: string;
  /** Identifies repetitions of the same request. */
  idempotency?: { key: string; fingerprint: string } | null;
}

/** Checks that run in the transaction that adds a job; an error rolls it back. */
export interface Admission {
  /** Runs first, also for a repeated request, while the owner is locked; with an external ledger once more at the end. */
  owner?: (tx: Transaction) => Promise<void>;
  /** Whether the service can take another job of this owner; runs before credits are reserved. */
  capacity?: () => void;
}

/** Equal for equal requests. */
export function fingerprintOf(newJob: Omit<NewJob, 'idempotency' | 'webhookSecret'>): string {
  return createHash('sha256').update(JSON.stringify(newJob)).digest('hex');
}

export interface JobBookOptions {
  storage: Storage;
  ledger: Ledger;
  pricing: Pricing;
  clock: Clock;
  /** The source of job ids. */
  random: Random;
  /** Default: no limit. */
  caps?: QueueCaps & Pick<QueueOptions, 'maxQueuedOf'>;
  /** Default: all owners have the same precedence. */
  owners?: Pick<Owners, 'precedenceOf'>;
  logger?: Logger;
  outcomes?: Outcomes;
  /** Encrypts webhook secrets of jobs. */
  secrets?: { seal(secret: string): string };
}

/** The result of {@link JobBook.recover}. */
export interface Recovery {
  /** Jobs that were requeued. */
  requeued: JobRecord[];
  /** As in {@link EndedJob}. */
  orphans: string[];
  /** Ids of jobs whose transition could not be completed; retry {@link JobBook.complete}. */
  stuck: string[];
}

const ANY_NUMBER: QueueCaps = {
  maxQueued: Number.POSITIVE_INFINITY,
  maxQueuedPerOwner: Number.POSITIVE_INFINITY,
};

/** Minimum lifetime of an idempotency key. */
export const IDEMPOTENCY_MS: number = 24 * 60 * 60 * 1000;

/**
 * How long a process may take to reserve credits with an external ledger. In a shared storage, other processes then
 * take it for dead and roll the job back. Much longer than a ledger's time-out, because the clocks of machines differ.
 */
export const MOST_RESERVING_MS: number = 5 * 60 * 1000;

/**
 * Records the lifecycle of jobs: every transition of {@link JobPhase}, with its ledger operation.
 *
 * A ledger that joins the storage's transactions commits together with the job. An external ledger is called between
 * two commits, the first of which records the intent; {@link JobBook.recover} repeats or rolls back operations that a
 * crash interrupted.
 */
export class JobBook {
  readonly #storage: Storage;
  readonly #ledger: Ledger;
  readonly #pricing: Pricing;
  readonly #clock: Clock;
  readonly #ids: SortableIds;
  readonly #joined: boolean;
  readonly #caps: QueueCaps & Pick<QueueOptions, 'maxQueuedOf'>;
  readonly #owners: Pick<Owners, 'precedenceOf'>;
  readonly #ending: JobEnding;
  readonly #secrets: { seal(secret: string): string } | undefined;
  /** Jobs that were `settling` at the last search for abandoned ones. */
  #settling = new Set<string>();
  /** The operations of workers. */
  readonly claims: JobClaims;

  constructor(options: JobBookOptions) {
    const { storage, ledger, clock, outcomes } = options;
    this.#secrets = options.secrets;
    this.#caps = options.caps ?? ANY_NUMBER;
    this.#owners = options.owners ?? { precedenceOf: () => ({ yields: false, inGoodStanding: true }) };
    this.claims = new JobClaims({ storage, clock, logger: options.logger ?? silentLogger });
    this.#ending = new JobEnding({ storage, ledger, clock, outcomes });
    this.#storage = storage;
    this.#ledger = ledger;
    this.#pricing = options.pricing;
    this.#clock = clock;
    this.#ids = new SortableIds(clock, options.random);
    this.#joined = ledger.joins(storage);
  }

  /**
   * Reserves credits and adds the job as `queued`. A repeated request returns the first job, with `repeated: true`.
   * Errors: `insufficient_credits` when the balance is below the reserve, `conflict` when the idempotency key was
   * used for another request, `queue_full`, and errors of the admission checks.
   */
  async add(
    { owner, request, metadataJson, webhookUrl, keyId, webhookSecret, idempotency }: NewJob,
    { owner: admitOwner, capacity: admit = () => {} }: Admission = {},
  ): Promise<{ job: JobRecord; repeated: boolean }> {
    const unsealed: JobRecord = {
      jobId: this.#ids.next(),
      owner,
      phase: 'queued',
      className: request.className,
      quality: request.quality,
      aspectRatio: request.aspectRatio,
      fps: request.fps ?? defaultFps(request.quality),
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
    };
    const { jobId, reserveCredits } = unsealed;
    const reserve = { jobId, owner, amountCredits: reserveCredits };
    // Called in the transaction, so the master key cannot be rotated concurrently.
    const sealed = () =>
      webhookSecret === undefined
        ? unsealed
        : { ...unsealed, webhookSecretSealed: this.#seal(webhookSecret) };
    /** The job of an earlier, equal request; undefined: a job may be added. */
    const madeBefore = async (tx: Transaction) => {
      const caps = await this.#admitted(tx, owner, admitOwner);
      const made = idempotency && (await this.#madeBefore(tx, owner, idempotency));
      if (made) return made;
      admit();
      // The queue's lock, then the account's.
      await Promise.all([
        this.#storage.queue.assertCapacity(tx, owner, caps),
        this.#joined ? this.#ledger.prepare?.({ owner }, tx) : undefined,
      ]);
      return undefined;
    };
    if (this.#joined) {
      const added = await this.#storage.transaction(async (tx) => {
        const made = await madeBefore(tx);
        if (made) return { job: made, repeated: true };
        const answer = await this.#ledger.reserve(reserve, tx);
        if (answer !== 'reserved') return { refused: answer };
        const job = sealed();
        await this.#insert(tx, job, request.code, idempotency);
        await this.#admit(tx, job);
        return { job, repeated: false };
      });
      if ('refused' in added) throw this.#insufficientCredits(reserve, added.refused);
      return added;
    }
    const made = await this.#storage.transaction(async (tx) => {
      const made = await madeBefore(tx);
      if (!made) await this.#insert(tx, { ...sealed(), phase: 'reserving' }, request.code, idempotency);
      return made;
    });
    if (made) return { job: made, repeated: true };
    try {
      const answer = await this.#ledger.reserve(reserve);
      if (answer !== 'reserved') throw this.#insufficientCredits(reserve, answer);
      const job = await this.#storage.transaction(async (tx) => {
        // During the ledger call, other jobs may have been admitted, or the owner deleted.
        const caps = await this.#admitted(tx, owner, admitOwner);
        await this.#storage.queue.assertCapacity(tx, owner, caps);
        const reserving = await this.#storage.getJob(jobId, tx);
        assert(reserving);
        const queued: JobRecord = { ...reserving, phase: 'queued' };
        await this.#storage.updateJob(tx, queued);
        await this.#admit(tx, queued);
        return queued;
      });
      return { job, repeated: false };
    } catch (error) {
      // The ledger may or may not have reserved; void is correct in both cases.
      await this.complete(jobId).catch(() => {
        throw new StuckError(jobId, error);
      });
      throw error;
    }
  }

  /**
   * The caps of an admitted owner. Locked first, so that a deletion of the owner by another process is either known here
   * or waits for this job.
   */
  async #admitted(tx: Transaction, owner: string, admitOwner: Admission['owner']): Promise<QueueCaps> {
    if (admitOwner) await this.#storage.lockOwner(tx, owner);
    const [own] = await Promise.all([this.#caps.maxQueuedOf?.(owner, tx), admitOwner?.(tx)]);
    return own === undefined ? this.#caps : { ...this.#caps, maxQueuedPerOwner: own };
  }

  /** Removes expired idempotency keys. Call it only while the clock can be trusted. */
  async forgetOldRequests(): Promise<void> {
    const before = this.#clock.now() - IDEMPOTENCY_MS;
    const removeSome = (tx: Transaction) => this.#storage.removeIdempotentRequests(tx, before);
    while (await this.#storage.transaction(removeSome));
  }

  /**
   * Ends a running job: settles or voids its reserve and makes it terminal. The job fails when the balance does not
   * cover its cost. Can be repeated until it succeeds; the first committed outcome is final. Undefined when the claim
   * is no longer valid: the job was canceled, requeued or claimed by another worker.
   */
  finish(claim: Claim, outcome: JobOutcome, options: FinishOptions): Promise<EndedJob | undefined> {
    return this.#ending.finish(claim, outcome, options);
  }

  /**
   * Fails a queued or running job with "Canceled" and invalidates its claim. A job with a committed outcome ends with
   * that outcome. Undefined when the job is already terminal.
   */
  cancel(jobId: string): Promise<EndedJob | undefined> {
    return this.#ending.cancel(jobId);
  }

  /**
   * Completes an interrupted transition: a reserving job is rolled back, a settling job is settled. Undefined when
   * the job was removed or is in another phase.
   */
  async complete(jobId: string): Promise<EndedJob | undefined> {
    const job = await this.#storage.transaction(async (tx) => {
      const job = await this.#storage.getJob(jobId, tx);
      // Rewritten, so a failed write that resurfaces after a crash cannot contradict later ones.
      if (job?.phase === 'reserving') await this.#storage.updateJob(tx, job);
      return job;
    });
    if (job?.phase === 'reserving') await this.#withdraw(job);
    return this.#ending.complete(jobId);
  }

  /**
   * Completes all interrupted transitions, and requeues jobs that were running when their service died; their
   * attempts are not counted. In a shared storage, jobs that another process may still be reserving are skipped;
   * {@link resumeAbandoned} rolls them back later.
   */
  async recover(): Promise<Recovery> {
    const orphans: string[] = [];
    const stuck: string[] = [];
    for await (const job of this.#unfinished(['reserving', 'settling'])) {
      if (this.#mayBeReserving(job)) continue;
      try {
        orphans.push(...((await this.complete(job.jobId))?.orphans ?? []));
      } catch {
        stuck.push(job.jobId);
      }
    }
    return { requeued: await this.claims.putBackLapsed(), orphans, stuck };
  }

  /**
   * Completes transitions in a shared storage whose process may have died: rolls back jobs that have been `reserving`
   * for {@link MOST_RESERVING_MS}, and settles those that were `settling` at the call before. Its process may still do
   * the same, and repeats it without effect. All jobs are tried; `errors` are those of the ledger or the storage.
   */
  async resumeAbandoned(): Promise<{ withdrawn: number; ended: EndedJob[]; errors: unknown[] }> {
    const before = this.#settling;
    this.#settling = new Set();
    const resumed = { withdrawn: 0, ended: [] as EndedJob[], errors: [] as unknown[] };
    for await (const job of this.#unfinished(['reserving', 'settling'])) {
      const { jobId, phase } = job;
      if (phase === 'settling') this.#settling.add(jobId);
      if (phase === 'settling' ? !before.has(jobId) : this.#mayBeReserving(job)) continue;
      try {
        const ended = await this.complete(jobId);
        if (ended) resumed.ended.push(ended);
        else if (phase === 'reserving') resumed.withdrawn += 1;
      } catch (error) {
        resumed.errors.push(error);
      }
    }
    return resumed;
  }

  #unfinished(phases: UnfinishedPhase[]): AsyncGenerator<JobRecord> {
    return allRowsAfter(
      (after) => this.#storage.unfinishedJobs({ after, phases }),
      ({ jobId }) => jobId,
    );
  }

  /** A time further in the future than the limit was written by a wrong clock. */
  #mayBeReserving({ phase, createdAtMs }: JobRecord): boolean {
    if (phase !== 'reserving' || !this.#storage.isShared) return false;
    return Math.abs(this.#clock.now() - createdAtMs) < MOST_RESERVING_MS;
  }

  async #insert(
    tx: Transaction,
    job: JobRecord,
    source: string,
    idempotency: NewJob['idempotency'],
  ): Promise<void> {
    await this.#storage.insertJob(tx, job, source);
    if (!idempotency) return;
    const { jobId, owner, createdAtMs } = job;
    await this.#storage.putIdempotentRequest(tx, { ...idempotency, owner, jobId, createdAtMs });
  }

  #admit(tx: Transaction, { jobId, owner }: JobRecord): Promise<void> {
    return this.#storage.queue.admit(tx, { jobId, owner, precedence: this.#owners.precedenceOf(owner) });
  }

  /** The job of an earlier, equal request. Error: `conflict` when the key was used for another request. */
  async #madeBefore(
    tx: Transaction,
    owner: string,
    { key, fingerprint }: { key: string; fingerprint: string },
  ): Promise<JobRecord | undefined> {
    const request = await this.#storage.getIdempotentRequest(owner, key, tx);
    if (!request) return undefined; // Its age is not checked: the clock may be wrong.
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

  #insufficientCredits(
    { amountCredits }: { amountCredits: number },
    answer: Exclude<ReserveAnswer, 'reserved'>,
  ): ScenepressError {
    const { topUpHint = 'Top up credits, then try again.' } = this.#ledger;
    const message =
      answer === 'insufficient'
        ? `This render needs a reserve of ${amountCredits} credits, more than the balance. ${topUpHint}`
        : answer.message;
    return new ScenepressError('insufficient_credits', message);
  }

  #seal(secret: string): string {
    assert(this.#secrets, '`secrets` is required for jobs with webhook secrets');
    return this.#secrets.seal(secret);
  }

  /** Rolls back a job that was never visible. */
  async #withdraw({ jobId, owner }: JobRecord): Promise<void> {
    await this.#ledger.void({ jobId, owner });
    await this.#storage.transaction(async (tx) => {
      const job = await this.#storage.getJob(jobId, tx);
      if (job?.phase === 'reserving') await this.#storage.deleteJob(tx, jobId);
    });
  }
}
