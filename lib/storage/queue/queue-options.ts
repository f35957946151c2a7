import type { Transaction } from '../transaction.ts';
import type { QueueCaps } from './queue.ts';

/** Limits on waiting and running jobs. */
export interface QueueOptions extends QueueCaps {
  /**
   * Concurrent renders per owner, with listings of scenes that run in the same process; or a function that returns it, which
   * is called before each claim. Default: no limit.
   */
  maxRunningPerOwner: number | (() => number | Promise<number>);
  /**
   * Number of workers reserved for owners in good standing: those whose completed renders within 24 hours took at
   * least as long as those that failed by their scenes, were canceled or still run. This prevents an owner with endless scenes
   * from occupying all workers. One worker always serves all owners. Default 0. Under CPU contention, renders of
   * other owners get about a seventh of the CPU share of those of owners in good standing.
   */
  reservedWorkers: number;
  /**
   * An owner's own {@link QueueCaps.maxQueuedPerOwner}; undefined: that of all owners. Called in the transaction that adds
   * the job, `tx`.
   */
  maxQueuedOf?: (owner: string, tx: Transaction) => Promise<number | undefined> | number | undefined;
}

export const DEFAULT_QUEUE: QueueOptions = {
  maxQueued: 10_000,
  maxQueuedPerOwner: 1_000,
  maxRunningPerOwner: Number.POSITIVE_INFINITY,
  reservedWorkers: 0,
};
