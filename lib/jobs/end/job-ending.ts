import assert from 'node:assert/strict';
import { allRowsAfter } from '../../base/pages.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { CANCELED, CREDITS_RAN_OUT } from '../../model/failures.ts';
import {
  type IndexedVideo,
  isTerminal,
  type JobOutcome,
  type JobRecord,
  orphanKeysOf,
  type UnfinishedPhase,
} from '../../model/job.ts';
import type { RenderUsage } from '../../model/render-task.ts';
import type { Play } from '../../model/renderer-messages.ts';
import type { Claim } from '../../storage/queue/queue.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Transaction, TransactionOptions } from '../../storage/transaction.ts';
import type { Clock } from '../../time/clock.ts';
import { recordEnd } from '../../tracing/job-spans.ts';
import type { Admission } from '../accept/admission.ts';
import { chargedOf } from '../accept/ledger-answers.ts';

/** Called in the transaction that makes a job terminal, to add its webhook delivery; an error rolls it back. */
export interface OutcomeDeliveries {
  add(tx: Transaction, job: JobRecord): Promise<void>;
}

/** A job that became terminal. */
export interface EndedJob {
  job: JobRecord;
  /** Keys of artifacts that the job does not refer to, which must be removed. */
  orphans: string[];
}

export interface FinishOptions {
  /** Duration of the render, in milliseconds. */
  durationMs: number;
  /** The last attempt stored no artifact, so a job that was claimed once has no orphans. */
  storedNothing?: boolean;
  /** The plays of the scene; default: none. */
  plays?: Play[];
  /** Output of the scene's code, and warnings; default: nothing. */
  output?: string;
  usage?: RenderUsage;
  /** What the captions say, if there are any. */
  captions?: string;
  /** If an index of the video was stored. */
  indexed?: IndexedVideo;
}

export interface JobEndingOptions {
  storage: Storage;
  ledger: Ledger;
  clock: Clock;
  admission: Pick<Admission, 'withdraw'>;
  claims: { putBackLapsed(): Promise<JobRecord[]> };
  deliveries?: OutcomeDeliveries | undefined;
}

/** The result of {@link JobEnding.recover}. */
export interface Recovery {
  /** Jobs that were requeued. */
  requeued: JobRecord[];
  /** As in {@link EndedJob}. */
  orphans: string[];
  /** Ids of jobs whose transition could not be completed; retry {@link JobEnding.complete}. */
  stuck: string[];
}

/**
 * How long a process may take to reserve credits with an external ledger. In a shared storage, other processes then
 * take it for dead and roll the job back. Much longer than a ledger's time-out.
 */
export const MOST_RESERVING_MS: number = 5 * 60 * 1000;

interface End {
  outcome: JobOutcome;
  options: FinishOptions;
}

/**
 * Locks the job's place in the queue, before the job as claims do, then decides the outcome in the transaction that
 * commits it; undefined: the job does not end.
 */
type Decision = (tx: Transaction) => Promise<(job: JobRecord) => End | undefined>;

const CANCELLATION: JobOutcome = { kind: 'failed', error: CANCELED, failedBy: 'cancel' };

/**
 * Ends jobs: settles or voids the reserve, makes the job terminal and removes it from the queue. A ledger that joins the
 * storage's transactions commits together with the job. With an external ledger, the outcome is committed first
 * (`settling`); after that, no claim is needed to continue. {@link recover} repeats or rolls back what a crash interrupted.
 */
export class JobEnding {
  readonly #storage: Storage;
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #joined: boolean;
  readonly #deliveries: OutcomeDeliveries | undefined;
  readonly #admission: Pick<Admission, 'withdraw'>;
  readonly #claims: { putBackLapsed(): Promise<JobRecord[]> };
  /**
   * The phases of jobs at the last search for abandoned ones, with the `uptimeMs` of the first search that found them.
   * Not their times in the store: clocks of machines differ.
   */
  #seen = new Map<string, number>();

  constructor({ storage, ledger, clock, deliveries, admission, claims }: JobEndingOptions) {
    this.#admission = admission;
    this.#claims = claims;
    this.#storage = storage;
    this.#ledger = ledger;
    this.#clock = clock;
    this.#joined = ledger.joins(storage);
    this.#deliveries = deliveries;
  }

  /**
   * Ends a running job: settles or voids its reserve and makes it terminal. The job fails when the balance does not
   * cover its cost. Can be repeated until it succeeds; the first committed outcome is final. Undefined when the claim
   * is no longer valid: the job was canceled, requeued or claimed by another worker.
   */
  finish(claim: Claim, outcome: JobOutcome, options: FinishOptions): Promise<EndedJob | undefined> {
    const decide: Decision = async (tx) => {
      const isHeld = await this.#storage.queue.holds(tx, claim);
      return () => (isHeld ? { outcome, options } : undefined);
    };
    return this.#end(claim.jobId, decide, claim);
  }

  /**
   * Fails a queued or running job with "Canceled" and invalidates its claim. A job with a committed outcome ends with
   * that outcome. Undefined when the job is already terminal.
   */
  cancel(jobId: string): Promise<EndedJob | undefined> {
    return this.#end(jobId, async (tx) => {
      await this.#storage.queue.lock(tx, jobId);
      return ({ phase, startedAtMs }) => {
        const runsForMs = phase === 'running' ? Math.max(0, this.#clock.now() - (startedAtMs ?? 0)) : 0;
        return { outcome: CANCELLATION, options: { durationMs: Math.floor(runsForMs) } };
      };
    });
  }

  /**
   * Completes an interrupted transition: a reserving job is rolled back, a settling job is settled. Undefined when
   * the job was removed or is in another phase.
   */
  async complete(jobId: string): Promise<EndedJob | undefined> {
    await this.#admission.withdraw(jobId);
    return this.#end(jobId, async () => () => undefined);
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
    return { requeued: await this.#claims.putBackLapsed(), orphans, stuck };
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

  /** `claim`: of the worker that ends it. */
  async #end(jobId: string, decide: Decision, claim?: Claim): Promise<EndedJob | undefined> {
    const startMs = this.#clock.now();
    const found = this.#joined
      ? await this.#endAtOnce(jobId, decide, claim)
      : await this.#endInSteps(jobId, decide, claim);
    if (!found) return undefined;
    const { ended, options } = found;
    recordEnd(ended, { startMs, endMs: this.#clock.now() });
    return { job: ended, orphans: mayHaveOrphans(ended, options) ? orphanKeysOf(ended) : [] };
  }

  #endAtOnce(
    jobId: string,
    decide: Decision,
    claim: Claim | undefined,
  ): Promise<{ ended: JobRecord; options: FinishOptions } | undefined> {
    const work = async (tx: Transaction) => {
      const [settling] = await Promise.all([
        this.#decided(tx, jobId, decide),
        claim && this.#ledger.prepare?.({ owner: claim.owner, jobId }, tx),
      ]);
      if (!settling) return undefined;
      const ended = await this.#settle(settling.job, tx);
      await this.#makeTerminal(tx, ended);
      return { ended, options: settling.options };
    };
    return this.#storage.transaction(work, urgencyOf(claim));
  }

  async #endInSteps(
    jobId: string,
    decide: Decision,
    claim: Claim | undefined,
  ): Promise<{ ended: JobRecord; options: FinishOptions } | undefined> {
    const settling = await this.#storage.transaction(async (tx) => {
      const decided = await this.#decided(tx, jobId, decide);
      if (decided?.isNew) {
        await this.#storage.updateJob(tx, decided.job);
        await this.#storage.queue.remove(tx, jobId);
      }
      return decided;
    }, urgencyOf(claim));
    if (!settling) return undefined;
    const settled = await this.#settle(settling.job);
    const ended = await this.#storage.transaction(async (tx) => {
      // Concurrent calls get the same answer from the ledger; the second finds the job terminal.
      const job = await this.#storage.getJob(jobId, tx);
      if (job && isTerminal(job.phase)) return job;
      const ended = { ...settled, ...secretOf(job) };
      await this.#makeTerminal(tx, ended);
      return ended;
    }, urgencyOf(claim));
    return { ended, options: settling.options };
  }

  /** The job as `settling`; the first decision is final. */
  async #decided(
    tx: Transaction,
    jobId: string,
    decide: Decision,
  ): Promise<{ job: JobRecord; options: FinishOptions; isNew: boolean } | undefined> {
    const [outcomeOf, job] = await Promise.all([decide(tx), this.#storage.getJob(jobId, tx)]);
    if (!job || isTerminal(job.phase) || job.phase === 'reserving') return undefined;
    if (job.phase === 'settling') return { job, options: { durationMs: job.durationMs ?? 0 }, isNew: false };
    const end = outcomeOf(job);
    if (!end) return undefined;
    const { outcome, options } = end;
    const { durationMs, plays = [], output = '', usage = null, captions = null, indexed } = options;
    if (plays.length > 0 || output !== '') await this.#storage.putTrace(tx, jobId, { plays, output });
    if (indexed) await this.#storage.videos.note(tx, jobId, indexed);
    return { job: { ...job, phase: 'settling', outcome, durationMs, usage, captions }, options, isNew: true };
  }

  /** Reports the outcome of a settling job to the ledger; returns the terminal record. */
  async #settle(job: JobRecord, tx?: Transaction): Promise<JobRecord> {
    const { jobId, owner, outcome } = job;
    assert(outcome && job.durationMs !== null);
    const ended: JobRecord = { ...job, outcome: null, completedAtMs: this.#clock.now() };
    if (outcome.kind === 'completed') {
      const answer = await this.#ledger.settle({ jobId, owner, amountCredits: outcome.costCredits }, tx);
      const creditsCost = chargedOf(this.#ledger, answer);
      if (creditsCost !== undefined)
        return { ...ended, phase: 'completed', creditsCost, artifacts: outcome.artifacts };
    }
    await this.#ledger.void({ jobId, owner }, tx);
    const {
      error,
      failedBy = 'service',
      diagnosis = null,
    } = outcome.kind === 'failed' ? outcome : { error: CREDITS_RAN_OUT, failedBy: 'credits' as const };
    return { ...ended, phase: 'failed', error, failedBy, diagnosis, captions: null };
  }

  async #makeTerminal(tx: Transaction, ended: JobRecord): Promise<void> {
    await this.#storage.updateJob(tx, ended);
    await this.#storage.queue.remove(tx, ended.jobId);
    await this.#deliveries?.add(tx, ended);
  }
}

/** As for {@link JobClaims}. */
function urgencyOf(claim: Claim | undefined): TransactionOptions {
  return { isUrgent: claim !== undefined };
}

/** The currently stored secret: the master key may have been replaced since the record was read. */
function secretOf(job: JobRecord | undefined): Pick<JobRecord, 'webhookSecretSealed'> {
  const { webhookSecretSealed } = job ?? {};
  return webhookSecretSealed === undefined ? {} : { webhookSecretSealed };
}

/** A single attempt, counted or not, leaves no orphans when it completed or stored nothing. */
function mayHaveOrphans({ phase, token = 0 }: JobRecord, { storedNothing = false }: FinishOptions): boolean {
  return token > 1 || (token === 1 && phase === 'failed' && !storedNothing);
}
