import assert from 'node:assert/strict';
import type { Transaction } from '../storage.ts';
import type { LowdbDatabase } from './database.ts';
import { frozenCopy, type Operation } from './tables.ts';

/** One write of a transaction: the last one of its row. */
export interface Write extends Operation {
  /** On its way to the disk, as it is: a later one of the same row is another. */
  isUnderWay: boolean;
}

/** Collects the writes of one transaction and shows them to its own reads. */
export class LowdbTransaction implements Transaction {
  readonly store: LowdbDatabase;
  readonly #writes: Write[] = [];
  /** The same by id, which some rows of different tables share. */
  readonly #written = new Map<string, Write[]>();
  open = true;

  constructor(store: LowdbDatabase) {
    this.store = store;
  }

  /** Of a table that stays in memory. */
  get<Row>(table: string, id: string): Row | undefined {
    const written = this.#find(table, id);
    return (written ? written.row : this.store.staged(table, id)) as Row | undefined;
  }

  /** Of any table. */
  find<Row>(table: string, id: string): Promise<Row | undefined> {
    const written = this.#find(table, id);
    if (written) return Promise.resolve(written.row as Row | undefined);
    return this.store.stagedAnywhere(table, id);
  }

  put(table: string, id: string, row: object | string): void {
    this.#write(table, id, frozenCopy(row));
  }

  remove(table: string, id: string): void {
    this.#write(table, id, undefined);
  }

  /** The last one of each row, where the first one was. */
  writes(): Write[] {
    return this.#writes;
  }

  #find(table: string, id: string): Write | undefined {
    return this.#written.get(id)?.find((write) => write.table === table);
  }

  #write(table: string, id: string, row: unknown): void {
    assert(this.open, 'a transaction that is still open');
    const written = this.#find(table, id);
    if (written) {
      written.row = row;
      return;
    }
    const write = { table, id, row, isUnderWay: false };
    this.#writes.push(write);
    const same = this.#written.get(id);
    if (same) same.push(write);
    else this.#written.set(id, [write]);
  }
}
