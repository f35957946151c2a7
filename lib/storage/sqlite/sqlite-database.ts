import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { isNoRoom, realDisk } from '../../disk.ts';
import { isScenepressError, ScenepressError } from '../../errors.ts';
import { silentLogger } from '../../logger.ts';
import type { SqlDatabase, SqlTransaction, SqlValue } from '../sql.ts';
import type { Transaction } from '../storage.ts';
import { Aside } from './aside.ts';
import { Checkpoints } from './checkpoints.ts';
import { Connection, damaged, isFailedFlush } from './connection.ts';
import { freePagesFault } from './free-pages.ts';
import { makeDatabase } from './make-database.ts';
import type { Flush, SqliteDatabaseOptions } from './options.ts';
import type { Schema } from './schema.ts';
import { Spell } from './spell.ts';
import { SqliteTransaction } from './sqlite-transaction.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

export type { Flush, SqliteDatabaseOptions } from './options.ts';

/** The exit code of a process whose disk failed it (`EX_IOERR`). */
const EXIT_IO_ERROR = 74;
/** Of what a check says. */
const MOST_FAULTS = 100;
const CHECKPOINT_AFTER_BYTES = 16 * 1024 * 1024;

const READER = 'PRAGMA query_only = ON; PRAGMA cache_size = -16384';

/** A transaction that read a damaged page can't be committed. */
const END_OF_VIEW = 'ROLLBACK';
const EMPTY_LOG = 'PRAGMA wal_checkpoint(TRUNCATE)';

/** Why a group isn't written: one of its transactions read what is damaged. */
const SPOILED = new Error('another transaction read what is damaged');

/** Transactions that reach the disk together. */
interface Group {
  commits: number;
  durable: Promise<void>;
  resolve: () => void;
  reject: (error: unknown) => void;
  /** Told before `durable` resolves. */
  listeners: (() => void)[];
}

/**
 * A SQLite database in a file of this machine.
 *
 * Transactions run one at a time on one connection. Those that gather while the disk is busy are committed and flushed
 * together: SQLite writes them to its log, and the flush is the thread pool's, so that the service's loop goes on.
 * All other reads use a second connection, whose view moves on with each flush: it never shows what isn't durable.
 */
export class SqliteDatabase implements SqlDatabase {
  readonly isShared = false;
  readonly #path: string;
  readonly #schema: Schema;
  readonly #log: WriteAheadLog;
  readonly #aside: Aside;
  readonly #onFatal: (error: Error) => void;
  readonly #onNoRoom: () => Promise<void>;
  readonly #onFlush: (flush: Flush) => void;
  readonly #checkpoints: Checkpoints;
  #connections: { writer: Connection; reader: Connection } | undefined;
  #isOpen = false;
  /** The tail of the line of transactions and commits. */
  #last: Promise<unknown> = Promise.resolve();
  /** What has run since the last commit. */
  #group: Group | undefined;
  #isCommitDue = false;
  #flushing: Promise<void> | undefined;
  /** What is being done alone. */
  readonly #tasksAlone = new Set<string>();
  readonly #spell = new Spell();

  constructor(path: string, schema: Schema, options: SqliteDatabaseOptions = {}) {
    this.#path = path;
    this.#schema = schema;
    this.#log = new WriteAheadLog(path, options.flushFile);
    this.#aside = new Aside(path);
    this.#onFatal = options.onFatal ?? (() => process.exit(EXIT_IO_ERROR));
    this.#onNoRoom = options.onNoRoom ?? (async () => {});
    this.#onFlush = options.onFlush ?? (() => {});
    this.#checkpoints = new Checkpoints({
      logSize: () => this.#log.sizeBytes,
      afterBytes: options.checkpointAfterBytes ?? CHECKPOINT_AFTER_BYTES,
      checkpoint: () => this.#checkpoint(),
      logger: options.logger ?? silentLogger,
    });
  }

  async start(): Promise<void> {
    if (this.#isOpen) return;
    try {
      await this.#open({ emptyLog: true });
    } catch (error) {
      if (!isFull(error)) throw error;
      await this.#onNoRoom();
      await this.#open({ emptyLog: false });
      this.#checkpoints.putOff();
    }
  }

  async #open({ emptyLog }: { emptyLog: boolean }): Promise<void> {
    await this.#log.rewrite();
    const writer = await makeDatabase(this.#path, this.#schema);
    try {
      if (emptyLog) {
        writer.all(EMPTY_LOG, []);
        const fault = await freePagesFault(this.#path);
        if (fault !== undefined) throw damaged(this.#path, fault);
      }
      await this.#log.open();
      await this.#log.flush();
      // From here on all that was found is on the medium, and so are the names of the files.
      await realDisk.syncFolder(dirname(this.#path));
      const reader = new Connection(this.#path, { readOnly: true });
      reader.exec(READER);
      this.#connections = { writer, reader };
      this.#moveReaderOn();
      this.#isOpen = true;
    } catch (error) {
      await this.#log.close();
      writer.close();
      throw error;
    }
  }

  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    do {
      await this.#last; // A transaction that runs may open a group of its own.
      await this.#flushing;
      await this.#checkpoints.underWay;
    } while (this.#group || this.#flushing || this.#checkpoints.underWay);
    await this.#aside.stop();
    await this.#log.close();
    this.#opened.reader.close();
    this.#opened.writer.close(); // The last one to close empties the log and removes it.
    this.#connections = undefined;
  }

  async all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    if (this.#spell.isLong) await this.#spell.end();
    return this.#opened.reader.all<Row>(text, values);
  }

  async get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> {
    if (this.#spell.isLong) await this.#spell.end();
    return this.#opened.reader.get<Row>(text, values);
  }

  async alone<T>(task: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.#tasksAlone.has(task)) return undefined;
    this.#tasksAlone.add(task);
    try {
      return await work();
    } finally {
      this.#tasksAlone.delete(task);
    }
  }

  async aside<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    this.#assertOpen();
    return this.#aside.do<Row>({ kind: 'query', text, values });
  }

  /** Writes the database as it is now into a file that doesn't exist yet, while the service goes on. */
  async copyTo(path: string): Promise<void> {
    this.#assertOpen();
    await this.#aside.do({ kind: 'copy', path });
  }

  async check(): Promise<string[]> {
    const rows = await this.aside<{ integrity_check: string }>(`PRAGMA integrity_check(${MOST_FAULTS})`);
    return rows.map(({ integrity_check: fault }) => fault).filter((fault) => fault !== 'ok');
  }

  async purge(): Promise<void> {
    await this.#checkpoints.underWay;
    await this.#inLine(async () => {
      this.#assertOpen();
      await this.#emptyLog();
    });
  }

  async transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    for (;;) {
      const { result, durable } = await this.#inLine(() => this.#run(work));
      try {
        await durable;
        return result;
      } catch (error) {
        if (error !== SPOILED) throw error;
      }
    }
  }

  inside(tx: Transaction): SqlTransaction {
    assert(tx instanceof SqliteTransaction && tx.store === this, 'a transaction of this database');
    assert(tx.open, 'a transaction that is still open');
    return tx;
  }

  get #opened(): { writer: Connection; reader: Connection } {
    if (this.#connections) return this.#connections;
    throw new ScenepressError('not_running', 'The storage is closed.');
  }

  #assertOpen(): void {
    if (!this.#isOpen) throw new ScenepressError('not_running', 'The storage is closed.');
  }

  /** Behind all that waits in line now. */
  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.then(nothing, nothing);
    return done;
  }

  async #run<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<{ result: T; durable: Promise<void> }> {
    this.#assertOpen();
    if (this.#spell.isLong) await this.#spell.end();
    const { writer } = this.#opened;
    const group = this.#openGroup(writer);
    const tx = new SqliteTransaction(this, writer);
    writer.run('SAVEPOINT work');
    try {
      const result = await work(tx);
      writer.run('RELEASE work');
      group.commits += 1;
      group.listeners.push(...tx.listeners);
      return { result, durable: group.durable };
    } catch (error) {
      if (isScenepressError(error, 'storage_damaged')) this.#spoil(group, writer);
      else if (writer.isInTransaction) {
        writer.exec('ROLLBACK TO work; RELEASE work');
        if (isFull(error)) await this.#ranOut();
      } else await this.#abandon(group, error); // SQLite had to undo all of the group.
      throw error;
    } finally {
      tx.open = false;
    }
  }

  #openGroup(writer: Connection): Group {
    if (this.#group) return this.#group;
    writer.run('BEGIN IMMEDIATE');
    const { promise: durable, resolve, reject } = Promise.withResolvers<void>();
    durable.catch(nothing); // Each of its transactions gets the rejection.
    this.#group = { commits: 0, durable, resolve, reject, listeners: [] };
    this.#commitSoon();
    return this.#group;
  }

  /** As soon as the disk is idle, behind all that waits in line by then. */
  #commitSoon(): void {
    if (this.#isCommitDue || this.#flushing || !this.#group) return;
    this.#isCommitDue = true;
    void this.#inLine(async () => {
      this.#isCommitDue = false;
      await this.#commit();
    });
  }

  async #commit(): Promise<void> {
    const group = this.#group;
    if (!group) return;
    const { writer } = this.#opened;
    const startedMs = performance.now();
    try {
      writer.run('COMMIT');
    } catch (error) {
      if (isFailedFlush(error)) this.#onFatal(error as Error); // SQLite flushes the header of a new log itself.
      if (writer.isInTransaction) writer.run('ROLLBACK');
      await this.#overwriteCommit(writer);
      return this.#abandon(group, error);
    }
    this.#group = undefined;
    this.#flushing = this.#flush(group, startedMs).finally(() => {
      this.#flushing = undefined;
      this.#commitSoon();
      if (this.#isOpen) this.#checkpoints.beginIfDue();
    });
  }

  async #flush(group: Group, startedMs: number): Promise<void> {
    try {
      await this.#flushLog();
    } catch (error) {
      return group.reject(error);
    }
    this.#showCommits();
    for (const listener of group.listeners) listener();
    group.resolve();
    process.nextTick(this.#onFlush, { commits: group.commits, tookMs: performance.now() - startedMs });
  }

  async #flushLog(): Promise<void> {
    try {
      await this.#log.flush();
    } catch (cause) {
      // The system forgets what it could not write: a second flush would succeed and mean nothing.
      const message = `Writing ${this.#path} failed: what is on the disk is unknown.`;
      const error = new ScenepressError('storage_failed', message, { cause });
      this.#onFatal(error);
      throw error;
    }
  }

  /**
   * A commit that failed may be in the log, complete: SQLite writes it there before the log's index, which may find no
   * room to grow. Unless the process goes on to write over it, the next start would take it for committed. What is
   * written here has its place in the log already, so it needs no room, and changes nothing if it is found.
   */
  async #overwriteCommit(writer: Connection): Promise<void> {
    try {
      // Writes a page, though nothing changes.
      const [schema] = writer.all<{ user_version: number }>('PRAGMA user_version', []);
      writer.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${schema?.user_version}; COMMIT`);
    } catch {
      if (writer.isInTransaction) writer.run('ROLLBACK');
    }
    await this.#flushLog().catch(nothing); // What it means that it fails, is told.
  }

  /** SQLite commits nothing of a transaction that has read a damaged page: the others of the group are run again. */
  #spoil(group: Group, writer: Connection): void {
    if (writer.isInTransaction) writer.run('ROLLBACK');
    this.#group = undefined;
    group.reject(SPOILED);
  }

  /** Nothing of a group is written. */
  async #abandon(group: Group, error: unknown): Promise<void> {
    this.#group = undefined;
    if (isFull(error)) await this.#ranOut();
    group.reject(error);
  }

  /** A checkpoint would take the room that is made here for commits, and fail all the same. */
  async #ranOut(): Promise<void> {
    this.#checkpoints.putOff();
    await this.#onNoRoom();
  }

  #showCommits(): void {
    try {
      this.#moveReaderOn();
    } catch (error) {
      this.#onFatal(error as Error); // Readers would see nothing new, or what isn't durable.
    }
  }

  /** Shows readers what is committed now. */
  #moveReaderOn(): void {
    const { reader } = this.#opened;
    if (reader.isInTransaction) reader.run(END_OF_VIEW);
    reader.run('BEGIN');
    reader.get('PRAGMA user_version', []); // A transaction sees what is there when it first reads.
  }

  /** Copies nearly all while commits go on, and only the rest while they wait. */
  async #checkpoint(): Promise<void> {
    await this.#copyLog({ truncate: false });
    await this.#inLine(() => this.#emptyLog());
  }

  async #copyLog({ truncate }: { truncate: boolean }): Promise<void> {
    try {
      await this.#aside.do({ kind: 'checkpoint', truncate });
    } catch (error) {
      // What an earlier checkpoint copied and left to this one to flush counts as copied, and may be lost: another
      // checkpoint would leave it out, and empty the log. The next start copies all that is in the log.
      if (isScenepressError(error, 'storage_failed')) this.#onFatal(error);
      throw error;
    }
  }

  /** In line. */
  async #emptyLog(): Promise<void> {
    await this.#flushing;
    await this.#commit();
    await this.#flushing;
    // A reader keeps what it reads in the log. Nothing is committed meanwhile that isn't durable.
    this.#opened.reader.run(END_OF_VIEW);
    try {
      await this.#copyLog({ truncate: true });
      await this.#flushLog(); // SQLite doesn't: a power cut could bring back what was in it.
    } finally {
      this.#showCommits();
    }
  }
}

function isFull(error: unknown): boolean {
  return isScenepressError(error, 'storage_full') || isNoRoom(error);
}

function nothing(): void {}
