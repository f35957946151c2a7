import type { Transaction } from '../storage/storage.ts';

/** How many jobs may wait. */
export interface QueueCaps {
  /**
   * Jobs that may wait, of all owners together. Default 10,000. Beyond it, an owner with less than an equal share of
   * them may still add some, so that others can't take all places.
   */
  maxQueued: number;
  /** Jobs of one owner that may wait. Default 1,000. */
  maxQueuedPerOwner: number;
}

/** How the jobs of an owner are served, beside those of others. */
export interface Precedence {
  /** They wait while others' do. */
  yields: boolean;
  /** They may use the workers that are reserved for such owners. */
  inGoodStanding: boolean;
}

/** The right of a worker to run a job, until its lease or the job ends. */
export interface Claim {
  jobId: string;
  owner: string;
  /** Grows with each claim of the job: whoever holds an earlier one can't change it any more. */
  token: number;
  /** How often the service, or its thread, died while the job was being rendered. */
  interruptions: number;
}

export interface ClaimRequest {
  /** At most so many jobs. */
  most: number;
  /** Of these, at most so many of owners that aren't in good standing. */
  mostOfOthers: number;
  /** Jobs of one owner that may run at the same time, those of other workers included. */
  maxRunningPerOwner: number;
  /** False while a suspect runs. */
  maySuspect: boolean;
  /** Asked for each owner whose turn it would be, in the transaction. */
  precedenceOf: (owner: string) => Precedence;
  /** Owners whose precedence may have changed: the others' is looked at when it is their turn. */
  changed?: Iterable<string>;
  nowMs: number;
  /** When the lease ends unless it is renewed. */
  lapsesAtMs: number;
}

export interface LapsedQuery {
  nowMs: number;
  /** At most so many. */
  most: number;
  /** Leases of this worker don't lapse: it sees to them itself. */
  except: string;
}

export interface QueueState {
  waiting: number;
  running: number;
  /** How many owners have jobs that wait. */
  owners: number;
  /** The job that was made first of those that wait; null when none waits. */
  oldest: string | null;
}

/** An owner with jobs in the queue, and the precedence that it was last seen to have. */
export interface QueuedOwner extends Precedence {
  owner: string;
}

/**
 * Which jobs wait and which run, and who may run them: the one place where this is decided. It commits together with
 * the jobs.
 *
 * ```
 *           admit             claim
 *  (none) ─────────▶ waiting ─────────▶ claimed ─── renew
 *                       ▲                 │ │
 *                       └──── putBack ────┘ │          remove, from either: the job ended
 *                                           └────────▶ (none)
 * ```
 *
 * The owners take turns; within one, the job that was made first goes first. So an owner who comes late waits one round,
 * not the whole queue. Owners that yield have their turn when no other job may begin.
 *
 * A job that was being rendered two or more times when the service, or its thread, died may be the cause of that. No
 * such job is failed: the cause may as well be a SIGKILL, a power cut, or the job beside it. But these suspects run one at
 * a time, so that they can't interrupt each other for ever, and each waits before it begins, twice as long after each
 * interruption (2 s to 5 min): until then all others' jobs are rendered. A suspect that has waited goes before others,
 * or a full queue would keep it off for ever.
 *
 * - What waits or runs costs the same to admit and to claim, however many jobs and owners there are.
 * - Tokens of a job only grow. All that a worker writes about a job which it claimed is fenced: it asks {@link holds} in
 *   the same transaction.
 */
export interface Queue {
  /** Error: `queue_full` when no more jobs of that owner may wait. */
  assertRoom(tx: Transaction, owner: string, caps: QueueCaps): Promise<void>;
  /** A job that exists waits from now on, after its owner's others; an owner who had none is the last to have a turn. */
  admit(tx: Transaction, job: { jobId: string; owner: string; precedence: Precedence }): Promise<void>;
  /** Gives jobs that wait to a worker. */
  claim(tx: Transaction, worker: string, request: ClaimRequest): Promise<Claim[]>;
  /** Answers with those of the claims that still hold, now until `lapsesAtMs`. */
  renew(tx: Transaction, claims: Claim[], lapsesAtMs: number): Promise<Claim[]>;
  /** Whether a claim is still the right to run its job: it was not put back, claimed anew or removed. */
  holds(tx: Transaction, claim: Claim): Promise<boolean>;
  /**
   * A claimed job waits again, before its owner's others, and its owner before the other owners; its claim is worthless.
   * `notBeforeMs`: it is a suspect, and begins then.
   */
  putBack(
    tx: Transaction,
    jobId: string,
    options: { interruptions: number; notBeforeMs?: number | undefined },
  ): Promise<void>;
  /** A job neither waits nor runs any more. Nothing happens when it didn't. */
  remove(tx: Transaction, jobId: string): Promise<void>;
  /** Claims of workers that didn't renew them, or that are known to be dead. */
  lapsed(tx: Transaction, query: LapsedQuery): Promise<Claim[]>;
  /** Owners with jobs in the queue, in the order of their names: at most `limit`, after `after`. */
  owners(page: { after: string; limit: number }): Promise<QueuedOwner[]>;
  state(): Promise<QueueState>;
}
