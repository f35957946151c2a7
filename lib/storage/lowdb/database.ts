import assert from 'node:assert/strict';
import { Low } from 'lowdb';
import { ScenepressError } from '../../errors.ts';
import { type Logger, silentLogger } from '../../logger.ts';
import { type Disk, realDisk } from '../disk.ts';
import { isNoRoom } from '../spare-room.ts';
import type { Transaction } from '../storage.ts';
import { FolderLock } from './folder-lock.ts';
import { type ColdRow, JournaledAdapter, type OnFatal } from './journaled-adapter.ts';
import { applyTo, type Operation, put, removal, type Tables, tableIn } from './tables.ts';

/** Told of every change once it is on disk; keeps an index. */
type Listener = (id: string, before: unknown, after: unknown) => void;

export interface LowdbDatabaseOptions {
  disk?: Disk;
  logger?: Logger;
  /** By default the process ends: after a flush that failed nobody can say what is on the disk. */
  onFatal?: OnFatal;
  /** A write found the disk full. What it does, the next write finds done. */
  onNoRoom?: () => Promise<void>;
  /** How long the journal may grow, at least, before a snapshot is written. Default 4 MiB. */
  snapshotAfterBytes?: number;
}

const SNAPSHOT_AFTER_BYTES = 4 * 1024 * 1024;

function exit(error: Error): never {
  process.stderr.write(
    `scenepress: ${error.message} The process ends, so that the next start reads what is there.\n`,
  );
  process.exit(EXIT_IO_ERROR);
}

/** As sysexits.h numbers it. */
const EXIT_IO_ERROR = 74;

/** Writes that later transactions already see, and that are on their way to the disk. */
type Overlay = Map<string, Map<string, unknown>>;

interface Commit {
  operations: Operation[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * The embedded database of a data folder: lowdb with all rows in memory, read without I/O, and a journal on the disk.
 *
 * Transactions run one at a time, so each sees what the one before wrote. Their commits are written in groups: all
 * that gather while one write is under way go with the next, and each transaction's promise resolves when its
 * group is on disk. Only then do the rows change for readers, so a write that fails leaves memory as it was.
 */
export class LowdbDatabase {
  readonly folder: string;
  readonly #lock: FolderLock;
  readonly #disk: Disk;
  readonly #logger: Logger;
  readonly #onNoRoom: () => Promise<void>;
  readonly #coldTables = new Set<string>();
  readonly #adapter: JournaledAdapter;
  readonly #low: Low<Tables>;
  readonly #listeners = new Map<string, Listener[]>();
  #open = false;
  /** The tail of the queue of transactions. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting: Commit[] = [];
  #flushing: Promise<void> | undefined;
  #snapshotting: Promise<void> | undefined;
  /** Written by transactions that are not on disk yet. */
  #staged: Overlay = new Map();
  #generation = 0;

  constructor(
    folder: string,
    {
      disk = realDisk,
      logger = silentLogger,
      onFatal = exit,
      onNoRoom = async () => {},
      snapshotAfterBytes = SNAPSHOT_AFTER_BYTES,
    }: LowdbDatabaseOptions = {},
  ) {
    this.folder = folder;
    this.#disk = disk;
    this.#logger = logger;
    this.#onNoRoom = onNoRoom;
    this.#lock = new FolderLock(folder);
    this.#adapter = new JournaledAdapter({
      disk,
      folder,
      coldTables: this.#coldTables,
      snapshotAfterBytes,
      onFatal,
    });
    this.#low = new Low<Tables>(this.#adapter, new Map());
  }

  async start(): Promise<void> {
    if (this.#open) return;
    await this.#disk.makeFolder(this.folder);
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
    await this.#snapshotting;
    await this.#adapter.close();
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

  /** Says that a table's rows are large and rarely read: they leave memory with the next snapshot. Before `start()`. */
  keepCold(table: string): void {
    assert(!this.#open, 'keepCold before start');
    this.#coldTables.add(table);
  }

  /** A committed row of a cold table. */
  async readCold<Row>(table: string, id: string): Promise<Row | undefined> {
    const row = this.get<ColdRow>(table, id);
    return row && ((await this.#adapter.readCold(row)) as Row);
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

  /** Writes all that is committed into another folder, as a database of its own; commits wait only for the moment. */
  async copyTo(folder: string): Promise<void> {
    const copying = await this.transaction(async () => {
      await this.flushed(); // And nothing else is committed before this transaction ends.
      return { done: this.#adapter.copyTo(folder, this.#low.data) };
    });
    await copying.done;
  }

  /** Resolves when what was committed so far is on disk, and seen by readers. */
  async flushed(): Promise<void> {
    await this.#flushing;
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
    for (const { table, id, row } of operations) tableIn(this.#staged, table).set(id, row);
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
        if (operations.length > 0) await this.#adapter.append(operations);
      } catch (cause) {
        if (isNoRoom(cause)) await this.#onNoRoom();
        this.#abandon(group, cause);
        continue;
      }
      this.#apply(operations);
      for (const commit of group) commit.resolve();
      this.#snapshot();
    }
    this.#flushing = undefined;
  }

  /** In the background; a failure costs nothing but a longer journal. */
  #snapshot(): void {
    if (this.#snapshotting || !this.#adapter.wantsSnapshot) return;
    this.#snapshotting = this.#low
      .write()
      .catch((error: unknown) => {
        this.#adapter.postponeSnapshot();
        this.#logger.warn(
          { err: error },
          'A snapshot of the data could not be written; the journal goes on.',
        );
      })
      .finally(() => {
        this.#snapshotting = undefined;
      });
  }

  #apply(operations: Operation[]): void {
    for (const operation of operations) {
      const { table, id, row } = operation;
      const before = this.#rows(table).get(id);
      applyTo(this.#low.data, operation);
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
    const code = isNoRoom(cause) ? 'storage_full' : 'storage_failed';
    for (const commit of commits) commit.reject(new ScenepressError(code, message, { cause }));
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
    this.#written.set(key(table, id), put(table, id, row));
  }

  putCold(table: string, id: string, value: unknown): void {
    this.put(table, id, { value } satisfies ColdRow);
  }

  remove(table: string, id: string): void {
    this.#written.set(key(table, id), removal(table, id));
  }

  operations(): Operation[] {
    return [...this.#written.values()];
  }
}

function key(table: string, id: string): string {
  return `${table}/${id}`;
}
