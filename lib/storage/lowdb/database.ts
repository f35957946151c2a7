import assert from 'node:assert/strict';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Low } from 'lowdb';
import { ScenepressError } from '../../errors.ts';
import type { Transaction } from '../storage.ts';
import { FolderLock } from './folder-lock.ts';
import { SnapshotAdapter, type Tables } from './snapshot-adapter.ts';

/** One write of a commit: a row put, or removed when `row` is undefined. */
interface Operation {
  table: string;
  id: string;
  row: unknown;
}

/** Told of every change once it is on disk; keeps an index. */
type Listener = (id: string, before: unknown, after: unknown) => void;

/** Writes that later transactions already see, and that are on their way to the disk. */
type Overlay = Map<string, Map<string, unknown>>;

interface Commit {
  operations: Operation[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * The embedded database of a data folder: lowdb with all rows in memory, read without I/O.
 *
 * Transactions run one at a time, so each sees what the one before wrote. Their commits are written in groups: all
 * that gather while one write is under way go with the next, and each transaction's promise resolves when its
 * group is on disk. Only then do the rows change for readers, so a write that fails leaves memory as it was.
 */
export class LowdbDatabase {
  readonly folder: string;
  readonly #lock: FolderLock;
  readonly #low: Low<Tables>;
  readonly #listeners = new Map<string, Listener[]>();
  #open = false;
  /** The tail of the queue of transactions. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting: Commit[] = [];
  #flushing: Promise<void> | undefined;
  /** Written by transactions that are not on disk yet. */
  #staged: Overlay = new Map();
  #generation = 0;

  constructor(folder: string) {
    this.folder = folder;
    this.#lock = new FolderLock(folder);
    this.#low = new Low<Tables>(new SnapshotAdapter(join(folder, 'database.json')), new Map());
  }

  async start(): Promise<void> {
    if (this.#open) return;
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await chmod(this.folder, 0o700);
    await this.#lock.acquire();
    try {
      this.#low.data = new Map();
      await this.#low.read();
    } catch (error) {
      this.#lock.release();
      throw error;
    }
    for (const [table, listeners] of this.#listeners) {
      for (const [id, row] of this.#rows(table))
        for (const listener of listeners) listener(id, undefined, row);
    }
    this.#open = true;
  }

  async stop(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#last;
    await this.#flushing;
    for (const [table, listeners] of this.#listeners) {
      for (const [id, row] of this.#rows(table))
        for (const listener of listeners) listener(id, row, undefined);
    }
    this.#low.data = new Map();
    this.#lock.release();
  }

  /** Calls `listener` for every row of a table now and whenever one changes. Before `start()`. */
  listen(table: string, listener: Listener): void {
    assert(!this.#open, 'listen before start');
    this.#listeners.set(table, [...(this.#listeners.get(table) ?? []), listener]);
  }

  /** A committed row. Rows are never changed in place: treat them as frozen. */
  get<Row>(table: string, id: string): Row | undefined {
    return this.#rows(table).get(id) as Row | undefined;
  }

  /** All committed rows of a table, oldest first. */
  *all<Row>(table: string): Iterable<Row> {
    for (const row of this.#rows(table).values()) yield row as Row;
  }

  transaction<T>(work: (tx: LowdbTransaction) => Promise<T>): Promise<T> {
    const run = this.#last.then(() => this.#runAlone(work));
    this.#last = run.then(
      () => {},
      () => {},
    );
    return run.then(async ({ result, durable }) => {
      await durable;
      return result;
    });
  }

  /** The transaction behind a handle; misuse (another database's handle, a closed one) is an assertion. */
  inside(tx: Transaction): LowdbTransaction {
    assert(tx instanceof LowdbTransaction && tx.store === this, 'a transaction of this database');
    assert(tx.open, 'a transaction that is still open');
    return tx;
  }

  /** What a transaction sees before it wrote anything itself. */
  staged(table: string, id: string): unknown {
    const overlay = this.#staged.get(table);
    return overlay?.has(id) ? overlay.get(id) : this.#rows(table).get(id);
  }

  async #runAlone<T>(
    work: (tx: LowdbTransaction) => Promise<T>,
  ): Promise<{ result: T; durable: Promise<void> }> {
    if (!this.#open) throw new ScenepressError('not_running', 'The storage is closed.');
    const tx = new LowdbTransaction(this);
    const generation = this.#generation;
    try {
      const result = await work(tx);
      if (generation !== this.#generation) throw this.#lostBase();
      return { result, durable: this.#commit(tx.operations()) };
    } finally {
      tx.open = false;
    }
  }

  #commit(operations: Operation[]): Promise<void> {
    for (const { table, id, row } of operations) mapIn(this.#staged, table).set(id, row);
    const durable = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ operations, resolve, reject });
    });
    durable.catch(() => {}); // The caller of transaction() gets the rejection; here it must not count as unhandled.
    this.#flushing ??= this.#flush();
    return durable;
  }

  /** Writes group after group until nothing waits. */
  async #flush(): Promise<void> {
    await Promise.resolve(); // Lets the caller finish its turn, so that commits of one turn form one group.
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      const operations = group.flatMap((commit) => commit.operations);
      try {
        if (operations.length > 0) await this.#write(operations);
      } catch (cause) {
        this.#abandon(group, cause);
        continue;
      }
      this.#apply(operations);
      for (const commit of group) commit.resolve();
    }
    this.#flushing = undefined;
  }

  /** Hands lowdb the rows as they will be; the rows that readers see are replaced only afterwards. */
  async #write(operations: Operation[]): Promise<void> {
    const before = this.#low.data;
    const after: Tables = new Map(before);
    for (const table of new Set(operations.map((operation) => operation.table))) {
      after.set(table, new Map(before.get(table)));
    }
    for (const operation of operations) applyTo(mapIn(after, operation.table), operation);
    this.#low.data = after;
    try {
      const writing = this.#low.write();
      this.#low.data = before;
      await writing;
    } finally {
      this.#low.data = before;
    }
  }

  #apply(operations: Operation[]): void {
    for (const operation of operations) {
      const { table, id, row } = operation;
      const rows = mapIn(this.#low.data, table);
      const before = rows.get(id);
      applyTo(rows, operation);
      const overlay = this.#staged.get(table);
      if (overlay && overlay.get(id) === row) overlay.delete(id);
      for (const listener of this.#listeners.get(table) ?? []) listener(id, before, row);
    }
  }

  /** A write failed: it and all that was built on it never happened. */
  #abandon(group: Commit[], cause: unknown): void {
    const commits = [...group, ...this.#waiting];
    this.#waiting = [];
    this.#staged = new Map();
    this.#generation += 1;
    const message = `Nothing was changed: writing to ${this.folder} failed (${(cause as Error).message}).`;
    for (const commit of commits) commit.reject(new ScenepressError('storage_failed', message, { cause }));
  }

  #lostBase(): ScenepressError {
    return new ScenepressError(
      'storage_failed',
      'Nothing was changed: an earlier write, which this one built on, failed.',
    );
  }

  #rows(table: string): Map<string, unknown> {
    return this.#low.data.get(table) ?? new Map();
  }
}

/** Collects the writes of one transaction and shows them to its own reads. */
export class LowdbTransaction implements Transaction {
  readonly store: LowdbDatabase;
  readonly #written = new Map<string, Operation>();
  open = true;

  constructor(store: LowdbDatabase) {
    this.store = store;
  }

  get<Row>(table: string, id: string): Row | undefined {
    const written = this.#written.get(key(table, id));
    return (written ? written.row : this.store.staged(table, id)) as Row | undefined;
  }

  put(table: string, id: string, row: object): void {
    this.#written.set(key(table, id), { table, id, row: Object.freeze(structuredClone(row)) });
  }

  remove(table: string, id: string): void {
    this.#written.set(key(table, id), { table, id, row: undefined });
  }

  operations(): Operation[] {
    return [...this.#written.values()];
  }
}

function key(table: string, id: string): string {
  return `${table}/${id}`;
}

function mapIn(tables: Map<string, Map<string, unknown>>, table: string): Map<string, unknown> {
  const rows = tables.get(table) ?? new Map<string, unknown>();
  tables.set(table, rows);
  return rows;
}

function applyTo(rows: Map<string, unknown>, { id, row }: Operation): void {
  if (row === undefined) rows.delete(id);
  else rows.set(id, row);
}
