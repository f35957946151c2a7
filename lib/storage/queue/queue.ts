import type { Quality } from '../../model/qualities.ts';
import type { Transaction } from '../transaction.ts';

/** Limits on waiting jobs. */
export interface QueueCaps {
  /**
   * Waiting jobs of all owners. Default 10,000. Beyond it, an owner with less than an equal share may still add jobs,
   * so other owners cannot fill the queue.
   */
  maxQueued: number;
  /** Waiting jobs per owner. Default 1,000. */
  maxQueuedPerOwner: number;
}

/** The precedence of an owner's jobs relative to other owners'. */
export interface Precedence {
  /** They run only while no other owner's job can. */
  yields: boolean;
  /** They may use the reserved workers. */
  inGoodStanding: boolean;
}

/** The exclusive right of a worker to run a job, until the lease expires or the job ends. */
export interface Claim {
  /** The job that was claimed. */
  jobId: string;
  /** Its owner. */
  owner: string;
  /** A fencing token that grows with each claim: holders of earlier claims can no longer change the job. */
  token: number;
  /** How often the service or the worker thread died during the job's render. */
  interruptions: number;
}

/** How many jobs the idle workers can start. */
export interface Wanted {
  /** Maximum number of jobs. */
  most: number;
  /** Maximum number of these for owners that are not in good standing. */
  mostOfOthers: number;
}

/** Asks for waiting jobs, for idle workers. */
export interface ClaimRequest {
  /**
   * Called in the transaction, as often as needed; the last answer counts. While the transaction waits for locks, more
   * workers may become idle.
   */
  wanted: () => Wanted;
  /** Only jobs of these qualities; default: all. */
  qualities?: readonly Quality[] | undefined;
  /** Maximum running jobs per owner, over all workers. */
  maxRunningPerOwner: number;
  /** False while a suspect runs. */
  maySuspect: boolean;
  /** Called in the transaction for each owner whose turn it is. */
  precedenceOf: (owner: string) => Precedence;
  /** Owners whose precedence may have changed; that of others is checked when it is their turn. */
  changed?: readonly string[];
  /** A promise when the storage tells the time with its first answers in the transaction. */
  lease: Lease | Promise<Lease>;
}

/** The time of a claim. */
export interface Lease {
  /** Epoch milliseconds. */
  nowMs: number;
  /** When the claim expires unless renewed; epoch milliseconds. */
  lapsesAtMs: number;
}

/** Asks for claims whose leases have expired. */
export interface LapsedQuery {
  /** Epoch milliseconds. */
  nowMs: number;
  /** Maximum number of claims. */
  most: number;
  /** Ids of jobs whose claims are excluded, because this process runs them. */
  except: readonly string[];
}

/** How many jobs wait and run. */
export interface QueueState {
  /** Number of jobs. */
  waiting: number;
  /** Number of jobs. */
  running: number;
  /** Number of owners with waiting jobs. */
  owners: number;
  /** The oldest waiting job; null when none waits. */
  oldest: string | null;
}

/** An owner with jobs in the queue, and its recorded precedence. */
export interface QueuedOwner extends Precedence {
  /** Whose jobs they are. */
  owner: string;
}

/**
 * The queue: which jobs wait, which run, and who may run them. It commits together with the jobs.
 *
 * ```
 *           admit             claim
 *  (none) ─────────▶ waiting ─────────▶ claimed ─── renew
 *                       ▲                 │ │
 *                       └──── putBack ────┘ │          remove, from either: the job ended
 *                                           └────────▶ (none)
 * ```
 *
 * Scheduling is round-robin over owners, and first-in first-out within an owner: a new owner waits one round, not for
 * the whole queue. Owners that yield are served when no other job can start.
 *
 * A job that was interrupted two or more times by a crash of the service or its thread is a suspect: it may be the
 * cause. It does not fail, because the cause may also be a SIGKILL, a power loss or a concurrent job. In each
 * process, suspects run one at a time, so they cannot interrupt each other forever, and with exponential backoff (2 s to
 * 5 min), so other jobs run first. A suspect whose delay has passed has priority over other jobs; otherwise a full queue
 * would starve it.
 *
 * - The cost of admitting and claiming does not depend on the number of jobs and owners.
 * - Tokens of a job only grow. All writes of a worker to its claimed jobs are fenced: it checks {@link holds} in
 *   the same transaction.
 */
export interface Queue {
  /** Error: `queue_full` when no more jobs of that owner may wait. */
  assertCapacity(tx: Transaction, owner: string, caps: QueueCaps | Promise<QueueCaps>): Promise<void>;
  /** Adds an existing job to the end of its owner's jobs; a new owner gets the last turn. */
  admit(tx: Transaction, job: { jobId: string; owner: string; precedence: Precedence }): Promise<void>;
  /** Assigns waiting jobs to a worker. */
  claim(tx: Transaction, worker: string, request: ClaimRequest): Promise<Claim[]>;
  /** Extends claims to `lapsesAtMs`; returns those that are still valid. */
  renew(tx: Transaction, claims: Claim[], lapsesAtMs: number): Promise<Claim[]>;
  /** Whether a claim is still valid: the job was not put back, claimed again or removed. */
  holds(tx: Transaction, claim: Claim): Promise<boolean>;
  /**
   * Returns a claimed job to the front of its owner's jobs, and the owner to the front of the turns; invalidates its
   * claim. `notBeforeMs`: the earliest start of a suspect.
   */
  putBack(
    tx: Transaction,
    jobId: string,
    options: { interruptions: number; notBeforeMs?: number | undefined },
  ): Promise<void>;
  /**
   * Locks a job's entry until the transaction ends. Transitions lock it before the job and the account, and change it
   * after them. No effect when the job is not in the queue.
   */
  lock(tx: Transaction, jobId: string): Promise<void>;
  /** Removes a job, whose entry the transaction has locked. No effect when it is not in the queue. */
  remove(tx: Transaction, jobId: string): Promise<void>;
  /** Claims that have expired, or whose workers are known to be dead. */
  lapsed(tx: Transaction, query: LapsedQuery): Promise<Claim[]>;
  /** Owners with jobs in the queue, ordered by name: at most `limit`, after `after`. */
  owners(page: { after: string; limit: number }): Promise<QueuedOwner[]>;
  /** How many jobs wait and run. */
  state(): Promise<QueueState>;
}
