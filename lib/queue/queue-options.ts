import type { QueueCaps } from './queue.ts';

/** How many jobs may wait and run. */
export interface QueueOptions extends QueueCaps {
  /** Renders of one owner at the same time. Default: as many as there are workers. */
  maxRunningPerOwner: number;
  /**
   * Of several workers, so many render only for owners in good standing: the renders of theirs that completed within
   * 24 hours took at least as long as those that failed by their scenes or were canceled. So an owner whose scenes never
   * end can't keep all workers from the others. One worker always serves everybody. Default 0. Where the processor is
   * short, renders of other owners also get a third of the share that those of owners in good standing get.
   */
  reservedWorkers: number;
}

export const DEFAULT_QUEUE: QueueOptions = {
  maxQueued: 10_000,
  maxQueuedPerOwner: 1_000,
  maxRunningPerOwner: Number.POSITIVE_INFINITY,
  reservedWorkers: 0,
};
