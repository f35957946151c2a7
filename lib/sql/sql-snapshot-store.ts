import assert from 'node:assert/strict';
import type { SnapshotRecord } from '../model/snapshot.ts';
import type { SnapshotStore } from '../storage/snapshot-store.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import type { Transaction } from '../storage/transaction.ts';
import { SNAPSHOTS } from './row-formats.ts';

const DELETE = 'DELETE FROM snapshots WHERE snapshot_id = ?';
const DUE = `SELECT ${SNAPSHOTS.names} FROM snapshots WHERE due_at_ms <= ? ORDER BY due_at_ms, snapshot_id LIMIT ?`;
const OF_OWNER = `SELECT ${SNAPSHOTS.names} FROM snapshots WHERE owner = ? AND due_at_ms IS NOT NULL ORDER BY snapshot_id`;

/** Snapshots in an SQL database. */
export class SqlSnapshotStore implements SnapshotStore {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async insert(tx: Transaction, snapshot: SnapshotRecord): Promise<void> {
    this.#database.inside(tx).write(SNAPSHOTS.insert, ...SNAPSHOTS.row(snapshot));
  }

  async update(tx: Transaction, snapshot: SnapshotRecord): Promise<void> {
    const updated = await this.#database.inside(tx).run(SNAPSHOTS.update, ...SNAPSHOTS.changes(snapshot));
    assert.equal(updated, 1, 'the snapshot exists');
  }

  async delete(tx: Transaction, snapshotId: string): Promise<void> {
    this.#database.inside(tx).write(DELETE, snapshotId);
  }

  async get(snapshotId: string, tx?: Transaction): Promise<SnapshotRecord | undefined> {
    const row = tx
      ? await this.#database.inside(tx).getForUpdate(SNAPSHOTS.byKey, snapshotId)
      : await this.#database.get(SNAPSHOTS.byKey, snapshotId);
    return row && SNAPSHOTS.record(row);
  }

  async due(atMs: number, limit: number): Promise<SnapshotRecord[]> {
    return (await this.#database.all(DUE, atMs, limit)).map((row) => SNAPSHOTS.record(row));
  }

  async of(owner: string): Promise<SnapshotRecord[]> {
    return (await this.#database.all(OF_OWNER, owner)).map((row) => SNAPSHOTS.record(row));
  }
}
