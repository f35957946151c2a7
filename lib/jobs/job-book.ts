import type { Clock } from '../clock.ts';
import { type Logger, silentLogger } from '../logger.ts';
import { allRowsAfter } from '../pages.ts';
import type { Claim } from '../queue/queue.ts';
import type { Storage } from '../storage/storage.ts';
import type { JobOutcome, JobRecord, UnfinishedPhase } from './job.ts';
import {
  type AdmissionChecks,
  JobAdmission,
  type JobAdmissionOptions,
  type NewJob,
} from './job-admission.ts';
import { JobClaims } from './job-claims.ts';
import { type EndedJob, type FinishOptions, JobEnding, type Outcomes } from './job-ending.ts';

export interface JobBookOptions extends JobAdmissionOptions {
  logger?: Logger;
  outcomes?: Outcomes;
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

/**
 * How long a process may take to reserve credits with an external ledger. In a shared storage, other processes then
 * take it for dead and roll the job back. Much longer than a ledger's time-out.
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
  readonly #clock: Clock;
  readonly #admission: JobAdmission;
  readonly #ending: JobEnding;
  /**
   * The phases of jobs at the last search for abandoned ones, with the `uptimeMs` of the first search that found them.
   * Not their times in the store: clocks of machines differ.
   */
  #seen = new Map<string, number>();
  /** The operations of workers. */
  readonly claims: JobClaims;

  constructor(options: JobBookOptions) {
    const { storage, ledger, clock, outcomes } = options;
    this.#storage = storage;
    this.#clock = clock;
    this.#admission = new JobAdmission(options);
    this.claims = new JobClaims({ storage, clock, logger: options.logger ?? silentLogger });
    this.#ending = new JobEnding({ storage, ledger, clock, outcomes });
  }

  /**
   * Reserves credits and adds the job as `queued`. A repeated request returns the first job, with `repeated: true`.
   * Errors: `insufficient_credits` when the balance is below the reserve, `conflict` when the idempotency key was
   * used for another request, `queue_full`, and errors of the admission checks.
   */
  add(newJob: NewJob, checks: AdmissionChecks = {}): Promise<{ job: JobRecord; repeated: boolean }> {
    return this.#admission.add(newJob, checks);
  }

  /** Removes expired idempotency keys. Call it only while the clock can be trusted. */
  forgetOldRequests(): Promise<void> {
    return this.#admission.forgetOldRequests();
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
    await this.#admission.withdraw(jobId);
    return this.#ending.complete(jobId);
  }

  /**
   * Completes all interrupted transitions, and requeues jobs that were running when their service died; their
   * attempts are not counted. In a shared storage, jobs that are `reserving` are skipped, because another process may
   * be alive that reserves them; {@link resumeAbandoned} rolls them back later.
   */
  async recover(): Promise<Recovery> {
    const orphans: string[] = [];
    const stuck: string[] = [];
    for await (const job of this.#unfinished(['reserving', 'settling'])) {
      if (job.phase === 'reserving' && this.#storage.isShared) continue;
      try {
        orphans.push(...((await this.complete(job.jobId))?.orphans ?? []));
      } catch {
        stuck.push(job.jobId);
      }
    }
    return { requeued: await this.claims.putBackLapsed(), orphans, stuck };
  }

  /**
   * Completes transitions in a shared storage whose process may have died: rolls back jobs that calls have found
   * `reserving` for {@link MOST_RESERVING_MS}, and settles those that were `settling` at the call before. Their process
   * may still do the same, and repeats it without effect. All jobs are tried; `errors` are those of the ledger or the
   * storage.
   */
  async resumeAbandoned(): Promise<{ withdrawn: number; ended: EndedJob[]; errors: unknown[] }> {
    const before = this.#seen;
    this.#seen = new Map();
    const nowMs = this.#clock.uptimeMs();
    const resumed = { withdrawn: 0, ended: [] as EndedJob[], errors: [] as unknown[] };
    for await (const job of this.#unfinished(['reserving', 'settling'])) {
      const { jobId, phase } = job;
      const state = `${phase} ${jobId}`;
      const sinceMs = before.get(state);
      this.#seen.set(state, sinceMs ?? nowMs);
      const mostMs = phase === 'reserving' ? MOST_RESERVING_MS : 0;
      if (sinceMs === undefined || nowMs - sinceMs < mostMs) continue;
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
}
