import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { OneAtATime } from '../../async/one-at-a-time.ts';
import { isScenepressError, ScenepressError } from '../../base/errors.ts';
import { silentLogger } from '../../base/logger.ts';
import { realDisk } from '../../files/disk.ts';
import type { SqlDatabase, SqlTransaction, SqlValue } from '../../storage/sql.ts';
import type { Transaction } from '../../storage/transaction.ts';
import type { Clock } from '../../time/clock.ts';
import { TimeSlice } from '../../time/time-slice.ts';
import { type Background, BackgroundWorker } from './background-worker.ts';
import { Checkpoints } from './checkpoints.ts';
import { Connection, damaged, isFailedFlush, isFullDisk } from './connection.ts';
import { freePagesFault } from './free-pages.ts';
import { makeDatabase } from './make-database.ts';
import type { Schema } from './migrated-schema.ts';
import { exitAfter, type Flush, type SqliteDatabaseOptions } from './options.ts';
import { CommitGroup, SqliteTransaction } from './sqlite-transaction.ts';
import { TasksAlone } from './tasks-alone.ts';
import { WriteAheadLog } from './write-ahead-log.ts';

/** Maximum number of problems that a check reports. */
const MOST_FAULTS = 100;
const CHECKPOINT_AFTER_BYTES = 16 * 1024 * 1024;
const READER = 'PRAGMA query_only = ON; PRAGMA cache_size = -16384';
/** ROLLBACK, because SQLite refuses to commit a transaction that read a damaged page. */
const END_OF_VIEW = 'ROLLBACK';
/** How long a checkpoint waits for readers in other programs. Commits wait meanwhile. */
const WAIT_FOR_READERS = 'PRAGMA busy_timeout = 50';
const TRUNCATE_LOG = 'PRAGMA wal_checkpoint(TRUNCATE)';
/** SQLite then overwrites the log from its start. Flushes are several times as fast if the file does not grow. */
const RESTART_LOG = 'PRAGMA wal_checkpoint(RESTART)';
const LOG_IN_USE = "The log can't be emptied while another program reads the database. End that program.";

/** Rejects a group in which one transaction failed; the others are retried. */
const SPOILED = new Error('another transaction of the group failed');

/**
 * An SQLite database in a local file.
 *
 * Transactions run one at a time on one connection. Those that arrive during a flush run after it, one directly after
 * the other, and are committed and flushed together (group commit): this uses 14 % less CPU than running
 * each immediately. The flush runs in the thread pool and does not block the event loop. Other reads use a second
 * connection, whose snapshot advances with each flush, so it only shows durable data.
 */
export class SqliteDatabase implements SqlDatabase {
  readonly isShared = false;
  readonly #path: string;
  readonly #schema: Schema;
  readonly #log: WriteAheadLog;
  readonly #background: Background;
  /** Copies the log. Not the thread of {@link #background}, in which a query may take a minute. */
  readonly #checkpointer: Background;
  readonly #clock: Clock;
  readonly #onFatal: (error: Error) => void;
  readonly #onFullDisk: () => Promise<void>;
  readonly #assertWritable: () => void;
  readonly #onFlush: (flush: Flush) => void;
  readonly #checkpoints: Checkpoints;
  #connections: { writer: Connection; reader: Connection } | undefined;
  #isOpen = false;
  /** Transactions and commits. */
  readonly #line = new OneAtATime();
  /** Queries and copies in the background, and checkpoints, which a query's snapshot would delay. */
  readonly #longTasks = new OneAtATime();
  /** The transactions since the last commit. */
  #group: CommitGroup | undefined;
  #flushing: Promise<void> | undefined;
  readonly #tasksAlone = new TasksAlone();
  readonly #slice: TimeSlice;

  constructor(path: string, schema: Schema, options: SqliteDatabaseOptions) {
    this.#path = path;
    this.#schema = schema;
    this.#log = new WriteAheadLog(path, options.flushFile);
    const background = options.background ?? ((path) => new BackgroundWorker(path));
    this.#background = background(path);
    this.#checkpointer = background(path);
    this.#clock = options.clock;
    this.#slice = new TimeSlice(this.#clock);
    this.#onFatal = options.onFatal ?? ((error) => exitAfter(error, options.logger));
    this.#onFullDisk = options.onFullDisk ?? (async () => {});
    this.#assertWritable = options.assertWritable ?? (() => {});
    this.#onFlush = options.onFlush ?? (() => {});
    this.#checkpoints = new Checkpoints({
      logSize: () => this.#log.sizeBytes,
      afterBytes: options.checkpointAfterBytes ?? CHECKPOINT_AFTER_BYTES,
      checkpoint: () => this.#checkpoint(this.#log.isLong ? TRUNCATE_LOG : RESTART_LOG),
      logger: options.logger ?? silentLogger,
    });
  }

  async start(): Promise<void> {
    if (this.#isOpen) return;
    try {
      await this.#open({ emptyLog: true });
    } catch (error) {
      if (!isFullDisk(error)) throw error;
      await this.#onFullDisk();
      await this.#open({ emptyLog: false });
      this.#checkpoints.putOff();
    }
  }

  async #open({ emptyLog }: { emptyLog: boolean }): Promise<void> {
    await this.#log.rewrite();
    const writer = await makeDatabase(this.#path, this.#schema);
    try {
      if (emptyLog) {
        writer.all(TRUNCATE_LOG, []);
        const fault = await freePagesFault(writer);
        if (fault !== undefined) throw damaged(this.#path, fault);
      }
      await this.#log.open();
      await this.#log.flush();
      // Now all existing content and the file names are durable.
      await realDisk.syncFolder(dirname(this.#path));
      const reader = Connection.open(this.#path, { readOnly: true });
      reader.exec(READER);
      this.#connections = { writer, reader };
      this.#moveReaderOn();
      this.#isOpen = true;
    } catch (error) {
      writer.close();
      await this.#log.close();
      throw error;
    }
  }

  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    do {
      await this.#longTasks.ended;
      await this.#line.ended; // A running transaction may start another group.
      await this.#flushing;
      await this.#checkpoints.underWay;
    } while (this.#group || this.#flushing || this.#checkpoints.underWay);
    await Promise.all([this.#background.stop(), this.#checkpointer.stop()]);
    const { reader, writer } = this.#opened;
    this.#connections = undefined;
    reader.close();
    writer.close(); // Closing the last connection checkpoints and removes the log.
    await this.#log.close();
  }

  async all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    if (this.#slice.isLong) await this.#slice.end();
    return this.#opened.reader.all<Row>(text, values);
  }

  async get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> {
    if (this.#slice.isLong) await this.#slice.end();
    return this.#opened.reader.get<Row>(text, values);
  }

  alone<T>(task: string, work: () => Promise<T>): Promise<T | undefined> {
    return this.#tasksAlone.run(task, work);
  }

  async queryInBackground<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    this.#assertOpen();
    return this.#longTasks.run(async () => {
      this.#assertWritable();
      return this.#background.all<Row>(text, ...values);
    });
  }

  /** Writes a snapshot of the database to a new file while the service continues. */
  async copyTo(path: string): Promise<void> {
    this.#assertOpen();
    await this.#longTasks.run(async () => {
      this.#assertWritable();
      const connection = Connection.open(this.#path);
      await connection.copyTo(path).finally(() => connection.close());
    });
  }

  async check(): Promise<string[]> {
    const rows = await this.queryInBackground<{ integrity_check: string }>(
      `PRAGMA integrity_check(${MOST_FAULTS})`,
    );
    return rows.map(({ integrity_check: fault }) => fault).filter((fault) => fault !== 'ok');
  }

  async purge(): Promise<void> {
    this.#assertOpen();
    await this.#checkpoint(TRUNCATE_LOG);
  }

  async transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    for (;;) {
      const { result, durable } = await this.#line.run(() => this.#run(work));
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

  async #run<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<{ result: T; durable: Promise<void> }> {
    this.#assertOpen();
    if (!this.#group) await this.#flushing;
    if (this.#slice.isLong) await this.#slice.end();
    const { writer } = this.#opened;
    const group = this.#openGroup(writer);
    const tx = new SqliteTransaction(this, writer);
    try {
      const result = await work(tx);
      group.commits += 1;
      group.listeners.push(...tx.listeners);
      return { result, durable: group.durable };
    } catch (error) {
      tx.open = false; // Other concurrent work in the callback may continue.
      // SQLite may roll back the group itself, and refuses to commit after it read a damaged page.
      if (!writer.isInTransaction) await this.#abandon(group, error);
      else {
        if (tx.hasWritten || isScenepressError(error, 'storage_damaged')) this.#spoil(group, writer);
        if (isFullDisk(error)) await this.#ranOut();
      }
      throw error;
    } finally {
      tx.open = false;
    }
  }

  #openGroup(writer: Connection): CommitGroup {
    if (this.#group) return this.#group;
    this.#assertWritable();
    writer.run('BEGIN IMMEDIATE');
    this.#group = new CommitGroup();
    void this.#line.run(() => this.#commit()); // After all transactions queued during the last flush.
    return this.#group;
  }

  async #commit(): Promise<void> {
    const group = this.#group;
    if (!group) return;
    const { writer } = this.#opened;
    const startedMs = this.#clock.uptimeMs();
    try {
      writer.run('COMMIT');
    } catch (error) {
      // SQLite itself flushes the header of a log that was restarted, by whatever checkpoint: otherwise a crash could
      // replay old frames behind it. Such a COMMIT took 1.8 instead of 0.03 ms (medians), once in 16 MiB.
      if (isFailedFlush(error)) this.#onFatal(error as Error);
      if (writer.isInTransaction) writer.run('ROLLBACK');
      await this.#overwriteCommit(writer);
      return this.#abandon(group, error);
    }
    this.#group = undefined;
    this.#flushing = this.#flush(group, startedMs).finally(() => {
      this.#flushing = undefined;
      if (this.#isOpen) this.#checkpoints.beginIfDue();
    });
  }

  async #flush(group: CommitGroup, startedMs: number): Promise<void> {
    try {
      await this.#flushLog();
    } catch (error) {
      return group.reject(error);
    }
    this.#showCommits();
    for (const listener of group.listeners) listener();
    group.resolve();
    process.nextTick(this.#onFlush, { commits: group.commits, tookMs: this.#clock.uptimeMs() - startedMs });
  }

  async #flushLog(): Promise<void> {
    try {
      await this.#log.flush();
    } catch (cause) {
      // After a failed fsync the kernel marks the pages clean: a retry would succeed without writing them.
      const message = `Writing ${this.#path} failed: the on-disk state is unknown.`;
      const error = new ScenepressError('storage_failed', message, { cause });
      this.#onFatal(error);
      throw error;
    }
  }

  /**
   * Overwrites a failed commit in the log. It may be there completely, because SQLite writes the log before its
   * index, which may fail to grow; the next start would then replay it as committed. This commit changes nothing and
   * fits in the existing log, so it needs no disk space.
   */
  async #overwriteCommit(writer: Connection): Promise<void> {
    try {
      // Writes a page without changing anything.
      const [schema] = writer.all<{ user_version: number }>('PRAGMA user_version', []);
      writer.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${schema?.user_version}; COMMIT`);
    } catch {
      if (writer.isInTransaction) writer.run('ROLLBACK');
    }
    await this.#flushLog().catch(() => {}); // A failure is handled in `#flushLog`.
  }

  /**
   * Rolls back the whole group, because one of its transactions failed; the others are retried. A savepoint for each
   * transaction would slow down all that succeed.
   */
  #spoil(group: CommitGroup, writer: Connection): void {
    writer.run('ROLLBACK');
    this.#group = undefined;
    group.reject(SPOILED);
  }

  /** Rejects all transactions of a group, of which nothing was written. */
  async #abandon(group: CommitGroup, error: unknown): Promise<void> {
    this.#group = undefined;
    if (isFullDisk(error)) await this.#ranOut();
    group.reject(error);
  }

  /** Postpones checkpoints: they would use up the space freed here for commits, and fail anyway. */
  async #ranOut(): Promise<void> {
    this.#checkpoints.putOff();
    await this.#onFullDisk();
  }

  #showCommits(): void {
    try {
      this.#moveReaderOn();
    } catch (error) {
      this.#onFatal(error as Error); // Readers would see stale or non-durable data.
    }
  }

  /** Advances the readers' snapshot to the latest commit. */
  #moveReaderOn(): void {
    const { reader } = this.#opened;
    if (reader.isInTransaction) reader.run(END_OF_VIEW);
    reader.run('BEGIN');
    reader.get('PRAGMA user_version', []); // The snapshot is taken by the first read.
  }

  /**
   * Copies most of the log while commits continue, and blocks them only for the rest. Begins after the queries in the
   * background, and holds further ones.
   */
  #checkpoint(text: string): Promise<void> {
    return this.#longTasks.run(async () => {
      this.#assertWritable();
      let copiedBytes: number;
      do {
        copiedBytes = this.#log.sizeBytes;
        await this.#copyLog('PRAGMA wal_checkpoint(PASSIVE)');
      } while (this.#log.sizeBytes - copiedBytes > CHECKPOINT_AFTER_BYTES); // After a long query, the first takes seconds.
      await this.#line.run(() => this.#emptyLog(text));
    });
  }

  async #copyLog(text: string): Promise<{ busy?: number }> {
    try {
      const [row = {}] = await this.#checkpointer.all<{ busy: number }>(text);
      return row;
    } catch (error) {
      // Pages copied by an earlier checkpoint but not flushed may be lost, and a retry would skip them and empty
      // the log. After a restart, the whole log is copied again.
      if (isScenepressError(error, 'storage_failed')) this.#onFatal(error);
      throw error;
    }
  }

  /** Runs in the line of transactions. */
  async #emptyLog(text: string): Promise<void> {
    await this.#flushing;
    await this.#commit();
    await this.#flushing;
    // An open snapshot would prevent that. All commits are durable at this point.
    this.#opened.reader.run(END_OF_VIEW);
    try {
      await this.#checkpointer.all(WAIT_FOR_READERS);
      const { busy } = await this.#copyLog(text);
      if (busy !== 0) throw new ScenepressError('storage_locked', LOG_IN_USE);
      await this.#flushLog(); // SQLite does not: a power loss could restore the old log.
    } finally {
      this.#showCommits();
    }
  }
}
