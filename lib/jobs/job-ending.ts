import assert from 'node:assert/strict';
import type { Clock } from '../clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Claim } from '../queue/queue.ts';
import type { Play } from '../render/run/messages.ts';
import type { RenderUsage } from '../render/run/render-task.ts';
import type { Storage, Transaction, TransactionOptions } from '../storage/storage.ts';
import { CANCELED, CREDITS_RAN_OUT } from './failures.ts';
import { isTerminal, type JobOutcome, type JobRecord, orphanKeysOf } from './job.ts';
import { chargedOf } from './ledger-answers.ts';

/** Called in the transaction that makes a job terminal, to add its webhook delivery; an error rolls it back. */
export interface Outcomes {
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
}

export interface JobEndingOptions {
  storage: Storage;
  ledger: Ledger;
  clock: Clock;
  outcomes: Outcomes | undefined;
}

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
 * Ends jobs: settles or voids the reserve, makes the job terminal and removes it from the queue. With an external
 * ledger, the outcome is committed first (`settling`); after that, no claim is needed to continue.
 */
export class JobEnding {
  readonly #storage: Storage;
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #joined: boolean;
  readonly #outcomes: Outcomes | undefined;

  constructor({ storage, ledger, clock, outcomes }: JobEndingOptions) {
    this.#storage = storage;
    this.#ledger = ledger;
    this.#clock = clock;
    this.#joined = ledger.joins(storage);
    this.#outcomes = outcomes;
  }

  /** Undefined when the claim is invalid and the job is not `settling`. */
  finish(claim: Claim, outcome: JobOutcome, options: FinishOptions): Promise<EndedJob | undefined> {
    const decide: Decision = async (tx) => {
      const isHeld = await this.#storage.queue.holds(tx, claim);
      return () => (isHeld ? { outcome, options } : undefined);
    };
    return this.#end(claim.jobId, decide, claim);
  }

  /** Undefined when the job is terminal. */
  cancel(jobId: string): Promise<EndedJob | undefined> {
    return this.#end(jobId, async (tx) => {
      await this.#storage.queue.lock(tx, jobId);
      return ({ phase, startedAtMs }) => {
        const runsForMs = phase === 'running' ? Math.max(0, this.#clock.now() - (startedAtMs ?? 0)) : 0;
        return { outcome: CANCELLATION, options: { durationMs: Math.floor(runsForMs) } };
      };
    });
  }

  /** Completes a `settling` job; undefined in other phases. */
  complete(jobId: string): Promise<EndedJob | undefined> {
    return this.#end(jobId, async () => () => undefined);
  }

  /** `claim`: of the worker that ends it. */
  async #end(jobId: string, decide: Decision, claim?: Claim): Promise<EndedJob | undefined> {
    const found = this.#joined
      ? await this.#endAtOnce(jobId, decide, claim)
      : await this.#endInSteps(jobId, decide, claim);
    if (!found) return undefined;
    const { ended, options } = found;
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
    const { durationMs, plays = [], output = '', usage = null } = options;
    if (plays.length > 0 || output !== '') await this.#storage.putTrace(tx, jobId, { plays, output });
    return { job: { ...job, phase: 'settling', outcome, durationMs, usage }, options, isNew: true };
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
    const { error, failedBy = 'service' } =
      outcome.kind === 'failed' ? outcome : { error: CREDITS_RAN_OUT, failedBy: 'credits' as const };
    return { ...ended, phase: 'failed', error, failedBy };
  }

  async #makeTerminal(tx: Transaction, ended: JobRecord): Promise<void> {
    await this.#storage.updateJob(tx, ended);
    await this.#storage.queue.remove(tx, ended.jobId);
    await this.#outcomes?.add(tx, ended);
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
