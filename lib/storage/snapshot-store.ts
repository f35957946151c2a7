import type { SnapshotRecord } from '../model/snapshot.ts';
import type { Transaction } from './transaction.ts';

/** The snapshots of owners. They commit together with the ledger, where it joins the storage. */
export interface SnapshotStore {
  insert(tx: Transaction, snapshot: SnapshotRecord): Promise<void>;
  /** Replaces the record of one that exists. */
  update(tx: Transaction, snapshot: SnapshotRecord): Promise<void>;
  /** Removes one that was not charged. */
  delete(tx: Transaction, snapshotId: string): Promise<void>;
  /** With `tx`, no other transaction can change it until this one ends. */
  get(snapshotId: string, tx?: Transaction): Promise<SnapshotRecord | undefined>;
  /** Those that are due at that time (epoch milliseconds), the first one first; at most `limit`. */
  due(atMs: number, limit: number): Promise<SnapshotRecord[]>;
  /** Those of an owner that are not removed. */
  of(owner: string): Promise<SnapshotRecord[]>;
}
