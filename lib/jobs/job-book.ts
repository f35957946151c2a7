import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { SortableIds } from '../ids.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Pricing } from '../ledger/pricing.ts';
import type { Storage, Transaction } from '../storage/storage.ts';
import { CREDITS_RAN_OUT, MOST_ATTEMPTS } from './failures.ts';
import {
  isTerminal,
  type JobOutcome,
  type JobRecord,
  orphanKeysOf,
  type WaitingJob,
  waitingJobOf,
} from './job.ts';
import { defaultFps } from './qualities.ts';
import type { ValidRenderRequest } from './render-request.ts';

export { MOST_ATTEMPTS };

/** What a job is opened with. */
export interface NewJob {
  owner: string;
  request: ValidRenderRequest;
  metadataJson: string | null;
  webhookUrl: string | null;
  keyId: string | null;
  /** A secret of its own that signs its webhook. */
  webhookSecret?: string;
  /** Makes a repetition of the same request harmless. */
  idempotency?: { key: string; fingerprint: string } | null;
}

/** What is asked in the transaction that takes a job on. What it throws undoes that. */
export interface Admission {
  /** Before all else, also before a repeated request is answered. */
  owner?: () => Promise<void>;
  /** Before credits are reserved. */
  room?: () => void;
}

/** Called in the transaction that makes a job terminal. What it throws undoes that. */
export type OnEnd = (tx: Transaction, job: JobRecord) => Promise<void>;

/** The same for two jobs that ask for the same. */
export function fingerprintOf(newJob: Omit<NewJob, 'idempotency' | 'webhookSecret'>): string {
  return createHash('sha256').update(JSON.stringify(newJob)).digest('hex');
}

export interface JobBookOptions {
  storage: Storage;
  ledger: Ledger;
  pricing: Pricing;
  clock: Clock;
  onEnd?: OnEnd;
  /** Encrypts the secrets of jobs that have their own. */
  sealSecret?: (secret: string) => string;
  /** A job stands between two steps, because ledger or disk failed: call {@link JobBook.resume} until it succeeds. */
  onStuck?: (jobId: string) => void;
  /** Told of each place where an attempt may have stored an artifact that no job refers to. Nobody waits for it. */
  onOrphans?: (assetKeys: string[]) => void;
}

export interface FinishOptions {
  /** Of the render, in milliseconds. */
  durationMs: number;
  only?: 'queued' | 'running';
  /** The last attempt stored no artifact: when it was the only one, there is none to look for. */
  storedNothing?: boolean;
}

/** For how long at least a request may be repeated under its key. */
export const IDEMPOTENCY_MS: number = 24 * 60 * 60 * 1000;

/**
 * Writes the life of jobs down: every transition of {@link JobPhase} with what the ledger has to do with it.
 *
 * A ledger that joins the storage's transactions commits together with the job. One that lives elsewhere is asked
 * between two commits, of which the first says what is about to be asked; whatever is found in between after a
 * crash is asked again or undone by {@link JobBook.recover}.
 */
export class JobBook {
  readonly #storage: Storage;
  readonly #ledger: Ledger;
  readonly #pricing: Pricing;
  readonly #clock: Clock;
  readonly #ids: SortableIds;
  readonly #joined: boolean;
  readonly #onEnd: OnEnd;
  readonly #sealSecret: (secret: string) => string;
  readonly #onStuck: (jobId: string) => void;
  readonly #onOrphans: (assetKeys: string[]) => void;

  constructor(options: JobBookOptions) {
    this.#onEnd = options.onEnd ?? (async () => {});
    this.#sealSecret =
      options.sealSecret ?? (() => assert.fail('`sealSecret` is given where jobs have secrets'));
    this.#onStuck = options.onStuck ?? (() => {});
    this.#onOrphans = options.onOrphans ?? (() => {});
    this.#storage = options.storage;
    this.#ledger = options.ledger;
    this.#pricing = options.pricing;
    this.#clock = options.clock;
    this.#ids = new SortableIds(options.clock);
    this.#joined = options.ledger.joins(options.storage);
  }

  /**
   * Reserves credits and makes the job `queued`. A request that was made before is answered with its job, `repeated`.
   * Errors: `insufficient_credits` when the balance is below the reserve, `conflict` when the request's key was used
   * for another request; `queue_full` and the like from `admission`.
   */
  async open(
    { owner, request, metadataJson, webhookUrl, keyId, webhookSecret, idempotency }: NewJob,
    { owner: admitOwner = async () => {}, room: admit = () => {} }: Admission = {},
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
      outcome: null,
      artifacts: [],
      error: null,
    };
    const { jobId, reserveCredits } = unsealed;
    const reserve = { jobId, owner, amountCredits: reserveCredits };
    // In the transaction, so that no rotation of the master key comes in between.
    const sealed = () =>
      webhookSecret === undefined
        ? unsealed
        : { ...unsealed, webhookSecretSealed: this.#sealSecret(webhookSecret) };
    if (this.#joined) {
      return await this.#storage.transaction(async (tx) => {
        await admitOwner();
        const made = idempotency && (await this.#madeBefore(tx, owner, idempotency));
        if (made) return { job: made, repeated: true };
        admit();
        if ((await this.#ledger.reserve(reserve, tx)) === 'insufficient') throw insufficientCredits(reserve);
        const job = sealed();
        await this.#insert(tx, job, request.code, idempotency);
        return { job, repeated: false };
      });
    }
    const made = await this.#storage.transaction(async (tx) => {
      await admitOwner();
      const before = idempotency && (await this.#madeBefore(tx, owner, idempotency));
      if (before) return before;
      admit();
      await this.#insert(tx, { ...sealed(), phase: 'reserving' }, request.code, idempotency);
      return undefined;
    });
    if (made) return { job: made, repeated: true };
    try {
      if ((await this.#ledger.reserve(reserve)) === 'insufficient') throw insufficientCredits(reserve);
      const job = await this.#storage.transaction(async (tx) => {
        const reserving = await this.#storage.getJob(jobId, tx);
        assert(reserving);
        const queued: JobRecord = { ...reserving, phase: 'queued' };
        await this.#storage.updateJob(tx, queued);
        return queued;
      });
      return { job, repeated: false };
    } catch (error) {
      // Nobody knows whether the ledger reserved; voiding closes the door either way.
      await this.#resumeOrLeave(jobId);
      throw error;
    }
  }

  /** Removes requests that need not be answered with their job any more. To be called while the clock can be trusted. */
  async forgetOldRequests(): Promise<void> {
    const before = this.#clock.now() - IDEMPOTENCY_MS;
    await this.#storage.transaction((tx) => this.#storage.removeIdempotentRequests(tx, before));
  }

  /** `queued` to `running`; undefined when the job is no longer queued. */
  begin(jobId: string): Promise<JobRecord | undefined> {
    return this.#change(jobId, 'queued', (job) => ({
      ...job,
      phase: 'running',
      attempts: job.attempts + 1,
      startedAtMs: this.#clock.now(),
    }));
  }

  /**
   * `running` back to `queued`; undefined when the job is no longer running, or had its last attempt. Only an attempt
   * that a renderer ended by dying is `counted`. `interrupted`: the service, or its thread, died during the attempt.
   */
  requeue(
    jobId: string,
    { counted, interrupted = false }: { counted: boolean; interrupted?: boolean },
  ): Promise<JobRecord | undefined> {
    return this.#change(jobId, 'running', (job) => {
      if (counted && job.attempts >= MOST_ATTEMPTS) return undefined;
      return {
        ...job,
        phase: 'queued',
        attempts: counted ? job.attempts : job.attempts - 1,
        ...(interrupted && { interruptions: (job.interruptions ?? 0) + 1 }),
      };
    });
  }

  /**
   * Ends a job: settles or voids its reserve and makes it terminal. A cost that the balance doesn't cover fails it.
   * May be repeated until it succeeds; the outcome of the first call that was written down counts. `only` limits it
   * to jobs in that phase; undefined when the job is in another, or terminal.
   */
  async finish(jobId: string, outcome: JobOutcome, options: FinishOptions): Promise<JobRecord | undefined> {
    const ended = await this.#finish(jobId, outcome, options);
    if (ended && mayHaveOrphans(ended, options)) this.#onOrphans(orphanKeysOf(ended));
    return ended;
  }

  async #finish(
    jobId: string,
    outcome: JobOutcome,
    { durationMs, only }: FinishOptions,
  ): Promise<JobRecord | undefined> {
    const settling = (job: JobRecord): JobRecord => ({ ...job, phase: 'settling', outcome, durationMs });
    const mayEnd = (job: JobRecord) => !isTerminal(job.phase) && (only === undefined || job.phase === only);
    if (this.#joined) {
      return this.#storage.transaction(async (tx) => {
        const job = await this.#storage.getJob(jobId, tx);
        if (!job || !mayEnd(job)) return undefined;
        const ended = await this.#settle(settling(job), tx);
        await this.#end(tx, ended);
        return ended;
      });
    }
    const intent = await this.#storage.transaction(async (tx) => {
      const job = await this.#storage.getJob(jobId, tx);
      if (!job || job.phase === 'settling') return job;
      if (!mayEnd(job)) return undefined;
      await this.#storage.updateJob(tx, settling(job));
      return settling(job);
    });
    if (!intent) return undefined;
    const settled = await this.#settle(intent);
    return this.#storage.transaction(async (tx) => {
      // Two who settle at once get the same answer from the ledger; the second finds the job ended.
      const job = await this.#storage.getJob(jobId, tx);
      if (job && isTerminal(job.phase)) return job;
      const ended = { ...settled, ...secretOf(job) };
      await this.#end(tx, ended);
      return ended;
    });
  }

  /**
   * Takes a job that stands between two steps further: what was reserving is undone, what was settling is settled.
   * Undefined when it left no job, or wasn't between steps any more.
   */
  async resume(jobId: string): Promise<JobRecord | undefined> {
    const job = await this.#storage.transaction(async (tx) => {
      const job = await this.#storage.getJob(jobId, tx);
      // Written once more: then no write that failed can come to light after a crash, and contradict what follows.
      if (job?.phase === 'reserving') await this.#storage.updateJob(tx, job);
      return job;
    });
    if (job?.phase === 'reserving') await this.#withdraw(job);
    if (job?.phase !== 'settling') return undefined;
    assert(job.outcome);
    return this.finish(jobId, job.outcome, { durationMs: job.durationMs ?? 0 });
  }

  /**
   * Brings every unfinished job to where it can go on: what stands between two steps is resumed, and what was running
   * when the service died is queued again, its attempt not counted. Answers with the jobs to render, oldest first.
   */
  async recover(): Promise<WaitingJob[]> {
    const queued: WaitingJob[] = [];
    for await (const job of this.unfinished()) {
      if (job.phase === 'reserving' || job.phase === 'settling') await this.#resumeOrLeave(job.jobId);
      else {
        const uncounted = { counted: false, interrupted: true };
        const again = job.phase === 'running' ? await this.requeue(job.jobId, uncounted) : job;
        if (again) queued.push(waitingJobOf(again));
      }
    }
    return queued;
  }

  /** Every job that isn't terminal, oldest first. */
  async *unfinished(): AsyncGenerator<JobRecord> {
    for (let after = ''; ; ) {
      const page = await this.#storage.unfinishedJobs({ after });
      yield* page;
      const last = page.at(-1);
      if (!last) return;
      after = last.jobId;
    }
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

  /** The job that the same request made before; `conflict` when another request had the same key. */
  async #madeBefore(
    tx: Transaction,
    owner: string,
    { key, fingerprint }: { key: string; fingerprint: string },
  ): Promise<JobRecord | undefined> {
    const request = await this.#storage.getIdempotentRequest(owner, key, tx);
    if (!request) return undefined; // A clock that is wrong for minutes doesn't make it a new one.
    if (request.fingerprint !== fingerprint) {
      throw new ScenepressError(
        'conflict',
        'This Idempotency-Key was used for another request. Take a new one.',
      );
    }
    const job = await this.#storage.getJob(request.jobId, tx);
    if (job?.phase === 'reserving') {
      throw new ScenepressError(
        'conflict',
        'The request with this Idempotency-Key is still being taken on. Wait.',
      );
    }
    return job; // Undefined where its reserve was refused: the request may be made again.
  }

  async #resumeOrLeave(jobId: string): Promise<void> {
    await this.resume(jobId).catch(() => this.#onStuck(jobId));
  }

  /** Tells the ledger how a settling job ended and gives the record as it will be. */
  async #settle(job: JobRecord, tx?: Transaction): Promise<JobRecord> {
    const { jobId, owner, outcome } = job;
    assert(outcome && job.durationMs !== null);
    const ended: JobRecord = { ...job, outcome: null, completedAtMs: this.#clock.now() };
    if (outcome.kind === 'completed') {
      const answer = await this.#ledger.settle({ jobId, owner, amountCredits: outcome.costCredits }, tx);
      if (answer.kind === 'settled') {
        return {
          ...ended,
          phase: 'completed',
          creditsCost: answer.chargedCredits,
          artifacts: outcome.artifacts,
        };
      }
    }
    await this.#ledger.void({ jobId, owner }, tx);
    const { error, failedBy = 'service' } =
      outcome.kind === 'failed' ? outcome : { error: CREDITS_RAN_OUT, failedBy: 'credits' as const };
    return { ...ended, phase: 'failed', error, failedBy };
  }

  async #end(tx: Transaction, ended: JobRecord): Promise<void> {
    await this.#storage.updateJob(tx, ended);
    await this.#onEnd(tx, ended);
  }

  /** Undoes a job that nobody saw. */
  async #withdraw({ jobId, owner }: JobRecord): Promise<void> {
    await this.#ledger.void({ jobId, owner });
    await this.#storage.transaction(async (tx) => {
      const job = await this.#storage.getJob(jobId, tx);
      if (job?.phase === 'reserving') await this.#storage.deleteJob(tx, jobId);
    });
  }

  #change(
    jobId: string,
    from: JobRecord['phase'],
    change: (job: JobRecord) => JobRecord | undefined,
  ): Promise<JobRecord | undefined> {
    return this.#storage.transaction(async (tx) => {
      const job = await this.#storage.getJob(jobId, tx);
      if (job?.phase !== from) return undefined;
      const changed = change(job);
      if (changed) await this.#storage.updateJob(tx, changed);
      return changed;
    });
  }
}

/** The secret as it is sealed now: the master key may have been replaced since a record was read. */
function secretOf(job: JobRecord | undefined): Pick<JobRecord, 'webhookSecretSealed'> {
  const { webhookSecretSealed } = job ?? {};
  return webhookSecretSealed === undefined ? {} : { webhookSecretSealed };
}

function insufficientCredits({ amountCredits }: { amountCredits: number }): ScenepressError {
  return new ScenepressError(
    'insufficient_credits',
    `This render needs a reserve of ${amountCredits} credits, more than the balance. Top up, or wait for the ` +
      "month's free credits.",
  );
}

/** An only attempt left nothing but what the job refers to, when that completed or nothing was stored. */
function mayHaveOrphans(
  { phase, attempts, interruptions = 0 }: JobRecord,
  { storedNothing = false }: FinishOptions,
): boolean {
  return attempts > 1 || interruptions > 0 || (attempts === 1 && phase === 'failed' && !storedNothing);
}
