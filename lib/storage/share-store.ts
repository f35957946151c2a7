import type { ShareRecord } from '../model/share.ts';
import type { Transaction } from './transaction.ts';

/** A page of shares, newest first. */
export interface SharePage {
  owner?: string | undefined;
  /** Only those with this video. */
  jobId?: string | undefined;
  /** Only those whose ids are less. */
  before?: string | undefined;
  limit: number;
}

/**
 * Shares of videos. They commit together with the jobs. What is read with `tx` and must stay as it is needs the owner's lock
 * ({@link Storage.lockOwner}).
 */
export interface ShareStore {
  insert(tx: Transaction, share: ShareRecord): Promise<void>;
  /** Replaces the record of one that exists, except its views. */
  update(tx: Transaction, share: ShareRecord): Promise<void>;
  /** Removes one, and makes all copies of its texts unreadable. */
  delete(tx: Transaction, shareId: string): Promise<void>;
  get(shareId: string, tx?: Transaction): Promise<ShareRecord | undefined>;
  /** The share whose token has this hash. */
  withToken(tokenHash: string): Promise<ShareRecord | undefined>;
  list(page: SharePage): Promise<ShareRecord[]>;
  count(owner: string, tx: Transaction): Promise<number>;
  /** Takes a job out of all shares; one that has no other is deleted. Needs the owner's lock. */
  dropJob(tx: Transaction, jobId: string): Promise<void>;
  /** Adds to the views of those that exist. */
  addViews(views: ReadonlyMap<string, number>): Promise<void>;
}
