import assert from 'node:assert/strict';
import { isScenepressError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { MOST_ATTEMPTS } from '../../model/failures.ts';
import type { JobRecord } from '../../model/job.ts';
import { nowOf } from '../../storage/now-of.ts';
import type { Claim, ClaimRequest } from '../../storage/queue/queue.ts';
import { heldUntilMs, LONGEST_HOLD_MS } from '../../storage/queue/suspects.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Transaction } from '../../storage/transaction.ts';
import type { Clock } from '../../time/clock.ts';

/** How long a claim is valid unless renewed. With the sweep after it, jobs of a dead worker are requeued within 30 s. */
export const LEASE_MS = 24_000;

/** Jobs requeued per transaction. */
const LAPSED_AT_ONCE = 100;

/** A job that was made `running`, and the claim on it. */
export interface ClaimedJob {
  job: JobRecord;
  claim: Claim;
}

/** The operations of workers on claims. Each changes queue and job in one transaction. */
export class JobClaims {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor({ storage, clock, logger }: { storage: Storage; clock: Clock; logger: Logger }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Makes the next jobs `running`. */
  claim(worker: string, request: Omit<ClaimRequest, 'lease'>): Promise<ClaimedJob[]> {
    return this.#transaction(async (tx) => {
      const lease = this.#nowMs(tx).then((nowMs) => ({ nowMs, lapsesAtMs: nowMs + LEASE_MS }));
      const [{ nowMs }, claims] = await Promise.all([
        lease,
        this.#storage.queue.claim(tx, worker, { ...request, lease }),
      ]);
      const jobs = await Promise.all(claims.map((claim) => this.#begin(tx, claim, nowMs)));
      return claims.flatMap((claim, i) => (jobs[i] ? [{ job: jobs[i], claim }] : []));
    });
  }

  /** Renews claims for another lease; returns those that are still valid. */
  renew(claims: Claim[]): Promise<Claim[]> {
    return this.#transaction(async (tx) =>
      this.#storage.queue.renew(tx, claims, (await this.#nowMs(tx)) + LEASE_MS),
    );
  }

  /**
   * Returns a job from `running` to `queued`; undefined when the claim is invalid or this was the last attempt.
   * `counted`: the attempt counts, because its scene was killed, for example. `interrupted`: the service, a thread or
   * the renderer died.
   */
  requeue(
    claim: Claim,
    { counted = false, interrupted = false }: { counted?: boolean; interrupted?: boolean } = {},
  ): Promise<JobRecord | undefined> {
    const { jobId } = claim;
    return this.#transaction(async (tx) => {
      const [isHeld, job] = await Promise.all([
        this.#storage.queue.holds(tx, claim),
        this.#storage.getJob(jobId, tx),
      ]);
      if (!isHeld) return undefined;
      if (counted && (job?.attempts ?? 0) >= MOST_ATTEMPTS) return undefined;
      return this.#waitAgain(tx, job, { counted, interrupted });
    });
  }

  /**
   * Requeues jobs whose leases have expired or whose workers died; their attempts are not counted. `except`: ids of jobs
   * that this process runs. Returns these jobs.
   */
  async putBackLapsed({ except = [] }: { except?: readonly string[] } = {}): Promise<JobRecord[]> {
    const all: JobRecord[] = [];
    for (;;) {
      const { found, again } = await this.#transaction(async (tx) => {
        const nowMs = await this.#nowMs(tx);
        const lapsed = await this.#storage.queue.lapsed(tx, { nowMs, most: LAPSED_AT_ONCE, except });
        const jobs = await Promise.all(lapsed.map((claim) => this.#lapsedJob(tx, claim, nowMs)));
        const again: JobRecord[] = [];
        for (const job of jobs)
          if (job) again.push(await this.#waitAgain(tx, job.record, { counted: false, interrupted: true }));
        return { found: lapsed.length, again };
      });
      all.push(...again);
      if (found < LAPSED_AT_ONCE || again.length === 0) return all;
    }
  }

  /** The job of a lapsed claim. Undefined when it cannot be read: the others are requeued, and it is read again later. */
  async #lapsedJob(
    tx: Transaction,
    claim: Claim,
    nowMs: number,
  ): Promise<{ record: JobRecord | undefined } | undefined> {
    const { jobId } = claim;
    try {
      return { record: await this.#storage.getJob(jobId, tx) };
    } catch (error) {
      if (!isScenepressError(error, 'storage_damaged')) throw error;
      const again = this.#storage.isShared ? 'It is tried again later.' : 'The next start tries again.';
      this.#logger.error({ err: error, jobId }, `The job of a dead worker can't be read. ${again}`);
      await this.#storage.queue.renew(tx, [claim], nowMs + LONGEST_HOLD_MS);
      return undefined;
    }
  }

  /** Workers must not lose their claims because clients keep the storage busy. */
  #transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#storage.transaction(work, { isUrgent: true });
  }

  #nowMs(tx: Transaction): Promise<number> {
    return nowOf({ storage: this.#storage, clock: this.#clock }, tx);
  }

  /** Undefined when the job cannot be read, so the other claimed jobs can proceed. */
  async #begin(
    tx: Transaction,
    { jobId, token, interruptions }: Claim,
    nowMs: number,
  ): Promise<JobRecord | undefined> {
    try {
      const job = await this.#storage.getJob(jobId, tx);
      assert(job?.phase === 'queued', 'a waiting job is queued');
      const attempts = job.attempts + 1;
      const startedAtMs = this.#clock.now();
      const running: JobRecord = { ...job, phase: 'running', attempts, token, startedAtMs };
      await this.#storage.updateJob(tx, running);
      return running;
    } catch (error) {
      if (!isScenepressError(error, 'storage_damaged')) throw error;
      this.#logger.error({ err: error, jobId }, "A queued job can't be read; retrying later.");
      const notBeforeMs = nowMs + LONGEST_HOLD_MS;
      await this.#storage.queue.putBack(tx, jobId, { interruptions, notBeforeMs });
      return undefined;
    }
  }

  async #waitAgain(
    tx: Transaction,
    job: JobRecord | undefined,
    { counted, interrupted }: { counted: boolean; interrupted: boolean },
  ): Promise<JobRecord> {
    assert(job?.phase === 'running', 'a claimed job is running');
    const { jobId } = job;
    const interruptions = (job.interruptions ?? 0) + (interrupted ? 1 : 0);
    const { traceContext } = job;
    const queued: JobRecord = {
      ...job,
      phase: 'queued',
      attempts: counted ? job.attempts : job.attempts - 1,
      ...(interruptions > 0 && { interruptions }),
      ...(traceContext && { traceContext: { ...traceContext, queuedAtMs: this.#clock.now() } }),
    };
    await this.#storage.updateJob(tx, queued);
    const notBeforeMs = heldUntilMs(interruptions, await this.#nowMs(tx));
    await this.#storage.queue.putBack(tx, jobId, { interruptions, notBeforeMs });
    return queued;
  }
}
