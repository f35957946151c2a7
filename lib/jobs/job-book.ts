import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { ScenepressError } from '../errors.ts';
import { SortableIds } from '../ids.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Pricing } from '../ledger/pricing.ts';
import { type Logger, silentLogger } from '../logger.ts';
import type { Claim, QueueCaps } from '../queue/queue.ts';
import type { Storage, Transaction, UnfinishedPhase } from '../storage/storage.ts';
import { MOST_ATTEMPTS } from './failures.ts';
import type { JobOutcome, JobRecord } from './job.ts';
import { JobClaims } from './job-claims.ts';
import { type EndedJob, type FinishOptions, JobEnding, type Outcomes } from './job-ending.ts';
import type { Owners } from './owners.ts';
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

/** The same for two jobs that ask for the same. */
export function fingerprintOf(newJob: Omit<NewJob, 'idempotency' | 'webhookSecret'>): string {
  return createHash('sha256').update(JSON.stringify(newJob)).digest('hex');
}

export interface JobBookOptions {
  storage: Storage;
  ledger: Ledger;
  pricing: Pricing;
  clock: Clock;
  /** Default: any number may wait. */
  caps?: QueueCaps;
  /** Default: the same precedence for all owners. */
  owners?: Pick<Owners, 'precedenceOf'>;
  logger?: Logger;
  outcomes?: Outcomes;
  /** Encrypts the secrets of jobs that have their own. */
  secrets?: { seal(secret: string): string };
}

/**
 * A job could not be opened, and could not be undone either, because ledger or disk failed: call {@link JobBook.resume}
 * until it succeeds. `cause`: the error of the opening.
 */
export class StuckError extends Error {
  readonly jobId: string;

  constructor(jobId: string, cause: unknown) {
    super('The job could not be opened, nor undone.', { cause });
    this.jobId = jobId;
  }
}

/** What {@link JobBook.recover} did and left. */
export interface Recovery {
  /** Jobs that wait again. */
  requeued: JobRecord[];
  /** As of {@link EndedJob}. */
  orphans: string[];
  /** Ids of jobs that could not be taken further: to be resumed until that succeeds. */
  stuck: string[];
}

const ANY_NUMBER: QueueCaps = {
  maxQueued: Number.POSITIVE_INFINITY,
  maxQueuedPerOwner: Number.POSITIVE_INFINITY,
};

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
  readonly #caps: QueueCaps;
  readonly #owners: Pick<Owners, 'precedenceOf'>;
  readonly #ending: JobEnding;
  readonly #secrets: { seal(secret: string): string } | undefined;
  /** What workers do. */
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
    this.#ids = new SortableIds(clock);
    this.#joined = ledger.joins(storage);
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
        : { ...unsealed, webhookSecretSealed: this.#seal(webhookSecret) };
    if (this.#joined) {
      return await this.#storage.transaction(async (tx) => {
        await admitOwner();
        const made = idempotency && (await this.#madeBefore(tx, owner, idempotency));
        if (made) return { job: made, repeated: true };
        admit();
        await this.#storage.queue.assertRoom(tx, owner, this.#caps);
        if ((await this.#ledger.reserve(reserve, tx)) === 'insufficient') throw insufficientCredits(reserve);
        const job = sealed();
        await this.#insert(tx, job, request.code, idempotency);
        await this.#admit(tx, job);
        return { job, repeated: false };
      });
    }
    const made = await this.#storage.transaction(async (tx) => {
      await admitOwner();
      const before = idempotency && (await this.#madeBefore(tx, owner, idempotency));
      if (before) return before;
      admit();
      await this.#storage.queue.assertRoom(tx, owner, this.#caps);
      await this.#insert(tx, { ...sealed(), phase: 'reserving' }, request.code, idempotency);
      return undefined;
    });
    if (made) return { job: made, repeated: true };
    try {
      if ((await this.#ledger.reserve(reserve)) === 'insufficient') throw insufficientCredits(reserve);
      const job = await this.#storage.transaction(async (tx) => {
        const reserving = await this.#storage.getJob(jobId, tx);
        assert(reserving);
        // Others may have been admitted while the ledger was asked.
        await this.#storage.queue.assertRoom(tx, owner, this.#caps);
        const queued: JobRecord = { ...reserving, phase: 'queued' };
        await this.#storage.updateJob(tx, queued);
        await this.#admit(tx, queued);
        return queued;
      });
      return { job, repeated: false };
    } catch (error) {
      // Whether the ledger reserved is unknown; voiding is right either way.
      await this.resume(jobId).catch(() => {
        throw new StuckError(jobId, error);
      });
      throw error;
    }
  }

  /** Removes requests that need not be answered with their job any more. To be called while the clock can be trusted. */
  async forgetOldRequests(): Promise<void> {
    const before = this.#clock.now() - IDEMPOTENCY_MS;
    await this.#storage.transaction((tx) => this.#storage.removeIdempotentRequests(tx, before));
  }

  /**
   * Ends a job that runs: settles or voids its reserve and makes it terminal. A cost that the balance doesn't cover fails
   * it. May be repeated until it succeeds; the outcome of the first call that was written down counts. Undefined when
   * the claim is worthless: the job was canceled, or waits again, or another worker has it.
   */
  finish(claim: Claim, outcome: JobOutcome, options: FinishOptions): Promise<EndedJob | undefined> {
    return this.#ending.finish(claim, outcome, options);
  }

  /**
   * Fails a job with "Canceled", also one that runs: the claim on it is worthless from then on. A job whose outcome is
   * written down ends with that. Undefined when it is over.
   */
  cancel(jobId: string): Promise<EndedJob | undefined> {
    return this.#ending.cancel(jobId);
  }

  /**
   * Takes a job that stands between two steps further: what was reserving is undone, what was settling is settled.
   * Undefined when it left no job, or wasn't between steps any more.
   */
  async resume(jobId: string): Promise<EndedJob | undefined> {
    const job = await this.#storage.transaction(async (tx) => {
      const job = await this.#storage.getJob(jobId, tx);
      // Written once more: then no write that failed can come to light after a crash, and contradict what follows.
      if (job?.phase === 'reserving') await this.#storage.updateJob(tx, job);
      return job;
    });
    if (job?.phase === 'reserving') await this.#withdraw(job);
    return this.#ending.resume(jobId);
  }

  /**
   * Brings every job to where it can go on: what stands between two steps is resumed, and what was running when its
   * service died waits again, its attempt not counted.
   */
  async recover(): Promise<Recovery> {
    const orphans: string[] = [];
    const stuck: string[] = [];
    const phases: UnfinishedPhase[] = ['reserving', 'settling'];
    for (let after = ''; ; ) {
      const page = await this.#storage.unfinishedJobs({ after, phases });
      for (const { jobId } of page) {
        try {
          orphans.push(...((await this.resume(jobId))?.orphans ?? []));
        } catch {
          stuck.push(jobId);
        }
      }
      const last = page.at(-1);
      if (!last) break;
      after = last.jobId;
    }
    return { requeued: await this.claims.putBackLapsed(), orphans, stuck };
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

  #seal(secret: string): string {
    assert(this.#secrets, '`secrets` are given where jobs have some');
    return this.#secrets.seal(secret);
  }

  /** Undoes a job that nobody saw. */
  async #withdraw({ jobId, owner }: JobRecord): Promise<void> {
    await this.#ledger.void({ jobId, owner });
    await this.#storage.transaction(async (tx) => {
      const job = await this.#storage.getJob(jobId, tx);
      if (job?.phase === 'reserving') await this.#storage.deleteJob(tx, jobId);
    });
  }
}

function insufficientCredits({ amountCredits }: { amountCredits: number }): ScenepressError {
  return new ScenepressError(
    'insufficient_credits',
    `This render needs a reserve of ${amountCredits} credits, more than the balance. Top up, or wait for the ` +
      "month's free credits.",
  );
}
