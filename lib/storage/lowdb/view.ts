import type { Lease } from './archive.ts';
import { type Entry, entriesOf, MemoryCursor, MergedCursor, rowOf } from './cursor.ts';
import type { Tables } from './tables.ts';

/** Some tables as they are at one moment, to be read whole, in the order of their ids. Release it after use. */
export class View implements AsyncDisposable {
  readonly #lease: Lease;
  readonly #inMemory: Map<string, Entry[]>;

  constructor(tables: Tables, names: string[], lease: Lease) {
    this.#lease = lease;
    this.#inMemory = new Map(names.map((name) => [name, entriesIn(tables.get(name) ?? new Map())]));
  }

  /** All rows of one of the tables. */
  async *rows<Row>(table: string): AsyncGenerator<Row> {
    const packed = this.#lease.packs.map((pack) => pack.cursor(table, {}));
    const cursor = new MergedCursor([new MemoryCursor(this.#inMemory.get(table) ?? []), ...packed]);
    for await (const entry of entriesOf(cursor)) {
      const row = rowOf(entry);
      if (row !== undefined) yield row as Row;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#lease.release();
  }
}

function entriesIn(rows: Map<string, unknown>): Entry[] {
  return [...rows].map(([id, row]) => ({ id, row })).sort((a, b) => (a.id < b.id ? -1 : 1));
}
