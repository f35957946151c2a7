import assert from 'node:assert/strict';
import type { Clock } from '../clock.ts';
import { isScenepressError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Claim, ClaimRequest } from '../queue/queue.ts';
import { heldUntilMs, LONGEST_HOLD_MS } from '../queue/suspects.ts';
import type { Storage, Transaction } from '../storage/storage.ts';
import { MOST_ATTEMPTS } from './failures.ts';
import type { JobRecord } from './job.ts';

/** For how long a worker may run a job without renewing its claim. */
export const LEASE_MS = 30_000;

/** Claims that are put back in one transaction. */
const LAPSED_AT_ONCE = 100;

/** A job that runs from now on, with the claim that its attempt is made under. */
export interface ClaimedJob {
  job: JobRecord;
  claim: Claim;
}

/** What a worker does with claims: jobs begin to run in the transaction that gives them to it, and wait again in one. */
export class JobClaims {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor({ storage, clock, logger }: { storage: Storage; clock: Clock; logger: Logger }) {
    this.#storage = storage;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** `queued` to `running`, of the jobs whose turn it is. */
  claim(worker: string, request: Omit<ClaimRequest, 'nowMs' | 'lapsesAtMs'>): Promise<ClaimedJob[]> {
    return this.#storage.transaction(async (tx) => {
      const nowMs = this.#clock.now();
      const lease = { nowMs, lapsesAtMs: nowMs + LEASE_MS };
      const claims = await this.#storage.queue.claim(tx, worker, { ...request, ...lease });
      const claimed: ClaimedJob[] = [];
      for (const claim of claims) {
        const job = await this.#begin(tx, claim);
        if (job) claimed.push({ job, claim });
      }
      return claimed;
    });
  }

  /** Answers with those that still hold, for another lease. */
  renew(claims: Claim[]): Promise<Claim[]> {
    return this.#storage.transaction((tx) =>
      this.#storage.queue.renew(tx, claims, this.#clock.now() + LEASE_MS),
    );
  }

  /**
   * `running` back to `queued`; undefined when the claim is worthless, or that was the job's last attempt. Only an attempt
   * that a renderer ended by dying is `counted`. `interrupted`: the service, or its thread, died during the attempt.
   */
  requeue(
    claim: Claim,
    { counted, interrupted = false }: { counted: boolean; interrupted?: boolean },
  ): Promise<JobRecord | undefined> {
    const { jobId } = claim;
    return this.#storage.transaction(async (tx) => {
      if (!(await this.#storage.queue.holds(tx, claim))) return undefined;
      const job = await this.#storage.getJob(jobId, tx);
      if (counted && (job?.attempts ?? 0) >= MOST_ATTEMPTS) return undefined;
      return this.#waitAgain(tx, job, { counted, interrupted });
    });
  }

  /**
   * Jobs whose worker died, or was cut off, wait again; their attempts are not counted. `except`: a worker that sees to
   * its own. Answers with these jobs.
   */
  async putBackLapsed({ except = '' }: { except?: string } = {}): Promise<JobRecord[]> {
    const all: JobRecord[] = [];
    for (;;) {
      const some = await this.#storage.transaction(async (tx) => {
        const query = { nowMs: this.#clock.now(), most: LAPSED_AT_ONCE, except };
        const again: JobRecord[] = [];
        for (const { jobId } of await this.#storage.queue.lapsed(tx, query)) {
          const job = await this.#storage.getJob(jobId, tx);
          again.push(await this.#waitAgain(tx, job, { counted: false, interrupted: true }));
        }
        return again;
      });
      all.push(...some);
      if (some.length < LAPSED_AT_ONCE) return all;
    }
  }

  /** Undefined when the job can't be read: the others must not wait for it. */
  async #begin(tx: Transaction, { jobId, token, interruptions }: Claim): Promise<JobRecord | undefined> {
    const nowMs = this.#clock.now();
    try {
      const job = await this.#storage.getJob(jobId, tx);
      assert(job?.phase === 'queued', 'a job that waits is queued');
      const attempts = job.attempts + 1;
      const running: JobRecord = { ...job, phase: 'running', attempts, token, startedAtMs: nowMs };
      await this.#storage.updateJob(tx, running);
      return running;
    } catch (error) {
      if (!isScenepressError(error, 'storage_damaged')) throw error;
      this.#logger.error({ err: error, jobId }, 'A job that waits can’t be read; it is tried again later.');
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
    assert(job?.phase === 'running', 'a job that is claimed runs');
    const { jobId } = job;
    const interruptions = (job.interruptions ?? 0) + (interrupted ? 1 : 0);
    const queued: JobRecord = {
      ...job,
      phase: 'queued',
      attempts: counted ? job.attempts : job.attempts - 1,
      ...(interruptions > 0 && { interruptions }),
    };
    await this.#storage.updateJob(tx, queued);
    const notBeforeMs = heldUntilMs(interruptions, this.#clock.now());
    await this.#storage.queue.putBack(tx, jobId, { interruptions, notBeforeMs });
    return queued;
  }
}
