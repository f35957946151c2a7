import assert from 'node:assert/strict';
import { Low } from 'lowdb';
import { ScenepressError } from '../../errors.ts';
import { type Logger, silentLogger } from '../../logger.ts';
import { type Disk, realDisk } from '../disk.ts';
import { isNoRoom } from '../spare-room.ts';
import type { Transaction } from '../storage.ts';
import { FolderLock } from './folder-lock.ts';
import { JournaledAdapter, type OnFatal } from './journaled-adapter.ts';
import { type Listing, newestFirst } from './listing.ts';
import { MemoryIndex } from './memory-index.ts';
import {
  type ArchiveRule,
  type ArchiveRules,
  applyTo,
  indexTable,
  type Operation,
  type Tables,
} from './tables.ts';
import { LowdbTransaction, type Write } from './transaction.ts';
import { View } from './view.ts';

/** Told of every change of a row in memory, once it is on disk; keeps an index. */
type Listener = (id: string, before: unknown, after: unknown) => void;

/** Commits that were written and flushed together. */
export interface Flush {
  commits: number;
  /** Writing and flushing. */
  tookMs: number;
}

export interface LowdbDatabaseOptions {
  disk?: Disk;
  logger?: Logger;
  /** By default the process ends: after a flush that failed nobody can say what is on the disk. */
  onFatal?: OnFatal;
  /** Told of every group of commits that reached the disk. */
  onFlush?: (flush: Flush) => void;
  /** A write found the disk full. What it does, the next write finds done. */
  onNoRoom?: () => Promise<void>;
  /** How long the journal may grow, at least, before a snapshot is written. Default 16 MiB. */
  snapshotAfterBytes?: number;
  /** How many finished jobs (and as many rows of each kind that belongs to them) stay in memory. Default 1,000. */
  recentJobs?: number;
}

export const DEFAULT_RECENT_JOBS = 1000;
/** Some thousand jobs: seldom enough to cost little while many come, and read again in half a second by a start. */
const SNAPSHOT_AFTER_BYTES = 16 * 1024 * 1024;

const nothing = (): void => {};

function exit(error: Error): never {
  process.stderr.write(
    `scenepress: ${error.message} The process ends, so that the next start reads what is there.\n`,
  );
  process.exit(EXIT_IO_ERROR);
}

/** As sysexits.h numbers it. */
const EXIT_IO_ERROR = 74;

/** Writes that are not on the disk yet and seen by later transactions: the last one of each row. */
type Overlay = Map<string, Map<string, Write>>;

interface Commit {
  writes: Write[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * The embedded database of a data folder: lowdb with all rows that live in memory, read without I/O, a journal on the
 * disk, and an archive there of rows that have finished.
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
  readonly #onFlush: (flush: Flush) => void;
  readonly #rules: ArchiveRules = new Map();
  readonly #indexes = new Map<string, MemoryIndex>();
  readonly #adapter: JournaledAdapter;
  readonly #low: Low<Tables>;
  readonly #listeners = new Map<string, Listener[]>();
  #open = false;
  /** The tail of the queue of transactions. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting: Commit[] = [];
  #flushing: Promise<void> | undefined;
  #snapshotting: Promise<void> | undefined;
  /** Of commits that wait. */
  #staged: Overlay = new Map();
  /** Of the group that is being written. */
  #underWay: Overlay = new Map();
  /** By table, the last id of all that were ever in memory: what is behind it need not be sought there. */
  readonly #lastIds = new Map<string, string>();
  #generation = 0;

  constructor(
    folder: string,
    {
      disk = realDisk,
      logger = silentLogger,
      onFatal = exit,
      onNoRoom = async () => {},
      onFlush = () => {},
      snapshotAfterBytes = SNAPSHOT_AFTER_BYTES,
      recentJobs = DEFAULT_RECENT_JOBS,
    }: LowdbDatabaseOptions = {},
  ) {
    this.folder = folder;
    this.#disk = disk;
    this.#logger = logger;
    this.#onNoRoom = onNoRoom;
    this.#onFlush = onFlush;
    this.#lock = new FolderLock(folder);
    this.#adapter = new JournaledAdapter({
      disk,
      folder,
      rules: this.#rules,
      recentRows: recentJobs,
      snapshotAfterBytes,
      onFatal,
      onLeave: (table, id, row) => this.#tell(table, id, row ?? undefined, undefined),
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
      await this.#adapter.close();
      this.#lock.release();
      throw error;
    }
    for (const [table, rows] of this.#low.data) {
      for (const id of rows.keys()) if (!this.#mayHave(table, id)) this.#lastIds.set(table, id);
    }
    for (const table of this.#listeners.keys()) {
      for (const [id, row] of this.#rows(table)) this.#tell(table, id, undefined, row ?? undefined);
    }
    // Nothing may be written behind data of an earlier format: a version that knows only that would misread it.
    if (this.#adapter.outdatedFormat) {
      await this.#adapter.upgrade(this.#low.data).catch(async (error: unknown) => {
        await this.#close();
        throw error;
      });
    }
    this.#open = true;
  }

  async stop(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    await this.#last;
    await this.#flushing;
    await this.#snapshotting;
    this.#snapshot(); // A short journal makes for a quick start.
    await this.#snapshotting;
    await this.#close();
  }

  async #close(): Promise<void> {
    await this.#adapter.close();
    for (const table of this.#listeners.keys()) {
      for (const [id, row] of this.#rows(table)) this.#tell(table, id, row ?? undefined, undefined);
    }
    this.#low.data = new Map();
    this.#lock.release();
  }

  /** Calls `listener` for every row of a table in memory now and whenever one comes, changes or goes. Before `start()`. */
  listen(table: string, listener: Listener): void {
    assert(!this.#open, 'listen before start');
    this.#listeners.set(table, [...(this.#listeners.get(table) ?? []), listener]);
  }

  /** Says that rows of a table leave memory for the archive once they have finished. Before `start()`. */
  archive<Row>(table: string, rule: ArchiveRule<Row>): void {
    assert(!this.#open, 'archive before start');
    this.#rules.set(table, rule as ArchiveRule<unknown>);
    for (const [name, keyOf] of Object.entries(rule.indexes ?? {})) {
      const index = new MemoryIndex(keyOf as (row: unknown) => ReturnType<typeof keyOf>, () =>
        this.#rows(table),
      );
      this.#indexes.set(indexTable(table, name), index);
      this.listen(table, (id, before, after) => index.change(id, before, after));
    }
  }

  /** Which tables' rows leave memory, and when. */
  get rules(): ArchiveRules {
    return this.#rules;
  }

  /** A committed row of a table that stays in memory. Rows are never changed in place: treat them as frozen. */
  get<Row>(table: string, id: string): Row | undefined {
    assert(!this.#rules.has(table), 'its rows may be in the archive');
    return this.#rows(table).get(id) as Row | undefined;
  }

  /** All committed rows of a table that stays in memory, oldest first. */
  *all<Row>(table: string): Iterable<Row> {
    assert(!this.#rules.has(table), 'its rows may be in the archive');
    for (const row of this.#rows(table).values()) yield row as Row;
  }

  /** A committed row that has not finished, and maybe one that has. */
  unfinished<Row>(table: string, id: string): Row | undefined {
    return (this.#rows(table).get(id) ?? undefined) as Row | undefined;
  }

  /** All committed rows that have not finished, and maybe some that have. */
  *allUnfinished<Row>(table: string): Iterable<Row> {
    for (const row of this.#rows(table).values()) if (row !== null) yield row as Row;
  }

  /** A committed row, wherever it is. */
  async find<Row>(table: string, id: string): Promise<Row | undefined> {
    const row = this.#mayHave(table, id) ? this.#rows(table).get(id) : undefined;
    if (row !== undefined) return (row ?? undefined) as Row | undefined;
    return this.#adapter.archive.find(table, id) as Row | undefined;
  }

  /** Committed rows, newest first, wherever they are. */
  async *newestFirst<Row>(table: string, listing: Listing = {}): AsyncGenerator<Row> {
    const lease = this.#adapter.archive.lease();
    try {
      const keyOf =
        listing.index === undefined ? undefined : this.#rules.get(table)?.indexes?.[listing.index];
      const memory = keyOf
        ? this.#indexes.get(indexTable(table, listing.index as string))
        : this.#rows(table);
      assert(memory, 'an index of that table');
      yield* newestFirst<Row>(table, listing, {
        memory,
        packs: lease.packs,
        keyOf,
        find: (id) => this.find(table, id),
      });
    } finally {
      await lease.release();
    }
  }

  /** Tables as they are now, to be read whole; see {@link View}. */
  view(...tables: string[]): View {
    return new View(this.#low.data, tables, this.#adapter.archive.lease());
  }

  /** Resolves when nothing of rows that were replaced or removed is on the disk any more. */
  async purge(): Promise<void> {
    for (;;) {
      await this.#snapshotting;
      const begun = await this.transaction(async () => {
        await this.flushed(); // A snapshot is begun between two writes to the journal, never amid one.
        if (this.#snapshotting !== undefined) return undefined;
        return { done: this.#begunSnapshot(this.#adapter.write(this.#low.data, { purge: true })) };
      });
      if (begun) return begun.done;
    }
  }

  async transaction<T>(work: (tx: LowdbTransaction) => Promise<T>): Promise<T> {
    const run = this.#runAfter(this.#last, work);
    this.#last = run.then(nothing, nothing);
    const { result, durable } = await run;
    await durable;
    return result;
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
    const write = this.#lastWrite(table, id);
    return write ? write.row : (this.#rows(table).get(id) ?? undefined);
  }

  /** The same, of a table whose rows may be in the archive. */
  stagedAnywhere<Row>(table: string, id: string): Promise<Row | undefined> {
    const write = this.#lastWrite(table, id);
    return write ? Promise.resolve(write.row as Row | undefined) : this.find(table, id);
  }

  #lastWrite(table: string, id: string): Write | undefined {
    return this.#staged.get(table)?.get(id) ?? this.#underWay.get(table)?.get(id);
  }

  async #runAfter<T>(
    last: Promise<unknown>,
    work: (tx: LowdbTransaction) => Promise<T>,
  ): Promise<{ result: T; durable: Promise<void> }> {
    await last;
    if (!this.#open) throw new ScenepressError('not_running', 'The storage is closed.');
    const tx = new LowdbTransaction(this);
    const generation = this.#generation;
    try {
      const result = await work(tx);
      if (generation !== this.#generation) throw this.#lostBase();
      return { result, durable: this.#commit(tx.writes()) };
    } finally {
      tx.open = false;
    }
  }

  #commit(writes: Write[]): Promise<void> {
    const own = writes.filter((write) => this.#stage(write));
    const durable = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ writes: own, resolve, reject });
    });
    durable.catch(() => {}); // The caller of transaction() gets the rejection; here it must not count as unhandled.
    this.#flushing ??= this.#flush();
    return durable;
  }

  /**
   * Shows it to later transactions. False when a commit that waits too has a write of the same row, and takes it in: rows
   * that many commits of a group write, like an account's, are written once, where the first one wrote them.
   */
  #stage(write: Write): boolean {
    const { table, id, row } = write;
    const overlay = this.#staged.get(table);
    const earlier = overlay?.get(id);
    if (earlier) {
      earlier.row = row;
      return false;
    }
    if (overlay) overlay.set(id, write);
    else this.#staged.set(table, new Map([[id, write]]));
    write.isNew = !this.#mayHave(table, id);
    if (write.isNew) this.#lastIds.set(table, id);
    return true;
  }

  /** False of most new ids, which sort by time: a map takes longest to find out that it hasn't something. */
  #mayHave(table: string, id: string): boolean {
    const last = this.#lastIds.get(table);
    return last !== undefined && id <= last;
  }

  /** Writes group after group until nothing waits. */
  async #flush(): Promise<void> {
    await Promise.resolve(); // Lets the caller finish its turn, so that commits of one turn form one group.
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      this.#underWay = this.#staged;
      this.#staged = new Map();
      const writes = group.flatMap(({ writes }) => writes);
      try {
        if (writes.length > 0) await this.#append(writes, group.length);
      } catch (cause) {
        if (isNoRoom(cause)) await this.#onNoRoom();
        this.#abandon(group, cause);
        continue;
      }
      this.#apply(writes);
      this.#underWay = new Map();
      for (const commit of group) commit.resolve();
      this.#snapshot();
    }
    this.#flushing = undefined;
  }

  async #append(operations: Operation[], commits: number): Promise<void> {
    const startedAt = performance.now();
    await this.#adapter.append(operations);
    const tookMs = performance.now() - startedAt;
    // Not here: a fault of who is told is none of the disk, where all this stands now.
    process.nextTick(this.#onFlush, { commits, tookMs });
  }

  /** In the background; a failure costs nothing but a longer journal. */
  #snapshot(): void {
    if (this.#snapshotting || !this.#adapter.wantsSnapshot) return;
    this.#begunSnapshot(this.#low.write()).catch((error: unknown) => {
      this.#adapter.postponeSnapshot();
      this.#logger.warn({ err: error }, 'A snapshot of the data could not be written; the journal goes on.');
    });
  }

  /** Keeps others from beginning one meanwhile. */
  #begunSnapshot(snapshot: Promise<void>): Promise<void> {
    const over = () => {
      this.#snapshotting = undefined;
    };
    this.#snapshotting = snapshot.then(over, over);
    return snapshot;
  }

  #apply(writes: Write[]): void {
    for (const write of writes) {
      const { table, id, row, isNew } = write;
      const isHeard = this.#listeners.has(table);
      const before = isHeard && !isNew ? (this.#rows(table).get(id) ?? undefined) : undefined;
      applyTo(this.#low.data, write, this.#rules);
      if (isHeard) this.#tell(table, id, before, row);
    }
  }

  #tell(table: string, id: string, before: unknown, after: unknown): void {
    for (const listener of this.#listeners.get(table) ?? []) listener(id, before, after);
  }

  /** A write failed: it and all that was built on it never happened. */
  #abandon(group: Commit[], cause: unknown): void {
    const commits = [...group, ...this.#waiting];
    this.#waiting = [];
    this.#staged = new Map();
    this.#underWay = new Map();
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
