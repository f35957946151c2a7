import assert from 'node:assert/strict';
import type { Transaction } from '../storage.ts';
import type { LowdbDatabase } from './database.ts';
import { frozenCopy, type Operation } from './tables.ts';

/** One write of a transaction: the last one of its row. */
export interface Write extends Operation {
  /** Its row was never in memory before. */
  isNew: boolean;
}

/** Collects the writes of one transaction and shows them to its own reads. */
export class LowdbTransaction implements Transaction {
  readonly store: LowdbDatabase;
  readonly #writes: Write[] = [];
  /** The same by id, which some rows of different tables share; made when there are many. */
  #written: Map<string, Write[]> | undefined;
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
    const candidates = this.#written === undefined ? this.#writes : this.#written.get(id);
    return candidates?.find((write) => write.id === id && write.table === table);
  }

  #write(table: string, id: string, row: unknown): void {
    assert(this.open, 'a transaction that is still open');
    const written = this.#find(table, id);
    if (written) {
      written.row = row;
      return;
    }
    const write = { table, id, row, isNew: false };
    this.#writes.push(write);
    if (this.#written) addById(this.#written, write);
    else if (this.#writes.length > FEW) {
      this.#written = new Map();
      for (const each of this.#writes) addById(this.#written, each);
    }
  }
}

/** So many writes are looked through as quickly as one is found in a map, and nearly all transactions have fewer. */
const FEW = 8;

function addById(written: Map<string, Write[]>, write: Write): void {
  const same = written.get(write.id);
  if (same) same.push(write);
  else written.set(write.id, [write]);
}
