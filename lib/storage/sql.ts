import type { Transaction, TransactionOptions } from './transaction.ts';

/** A parameter or column value. Integers up to 2^53. */
export type SqlValue = string | number | Uint8Array | null;

/** Reads rows. Statements must be portable: `?` placeholders, and only SQL that all supported dialects share. */
export interface SqlReader {
  all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** The first row. */
  get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined>;
}

/**
 * Reads committed data and its own writes. Statements may be called without waiting for the ones before: they run in
 * the order of the calls, and those that are called together take one round trip.
 */
export interface SqlTransaction extends SqlReader, Transaction {
  /** Inserts a row whose key, the number in the column `key`, is generated; resolves with it. */
  insert(table: string, key: string, row: Record<string, SqlValue>): Promise<number>;
  /** Resolves with the number of rows that it inserted, updated or deleted. */
  run(text: string, ...values: SqlValue[]): Promise<number>;
  /** As {@link run}, when the number is not needed. If the statement fails, the transaction does, here or later. */
  write(text: string, ...values: SqlValue[]): void;
  /** As {@link SqlReader.all}, and locks the rows: other transactions cannot change or lock them until this one ends. */
  allForUpdate<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** As {@link SqlReader.get}, and locks the row. */
  getForUpdate<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined>;
  /** As {@link allForUpdate}, without rows that other transactions have locked. */
  allUnlocked<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** Waits until no other transaction has the lock of that name, and keeps it until this one ends. */
  lock(name: string): Promise<void>;
  /** Waits until all other transactions have ended, and lets new ones wait until this one ends. */
  lockAll(): Promise<void>;
  /** Calls `listener` when the commit is durable, before the transaction's promise resolves. */
  afterCommit(listener: () => void): void;
}

/**
 * An SQL database: what `sqlStorage` needs to keep jobs, books, accounts and keys in it. Implement it for a database or a
 * driver of yours, and test it with `sqlDatabaseSuite` of `scenepress/testing`.
 *
 * Reads outside a transaction see only durable data, never commits that a power loss could undo. A statement that is not
 * carried out rejects; after that its transaction can only be rolled back.
 */
export interface SqlDatabase extends SqlReader {
  /** Other processes may use it at the same time. */
  readonly isShared: boolean;
  /** Whether writes fail because the disk of the database is full; undefined if it does not know. */
  readonly isFull?: boolean;
  /** Opens it, and makes the tables that it does not have yet. Does nothing while it is open. */
  start(): Promise<void>;
  /** Waits for running transactions. Can be started again. */
  stop(): Promise<void>;
  /**
   * Runs `work` in a transaction; resolves when its commit is durable. `work` may be retried from the beginning: after
   * a conflict, and after a transaction failed that would have been committed with it. When it throws, the transaction
   * is rolled back.
   *
   * Transactions of a shared database run at the same time, and each statement sees what was committed before it. What
   * a transaction decides from rows that it read is valid at its commit only if it has locked them. A row that was
   * missing cannot be locked: a unique index refuses the second of two inserts, whose transaction is then retried, and
   * what no index guards takes a lock by name.
   */
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs `work` unless a task of that name is already running in this or another process; then resolves with
   * undefined.
   */
  alone<T>(task: string, work: () => Promise<T>): Promise<T | undefined>;
  /** A query that may take minutes; does not block other work. Do not await it in a transaction. */
  queryInBackground<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** Checks the integrity of the whole database in the background; returns a sentence per problem. */
  check(): Promise<string[]>;
  /**
   * Resolves when the database files no longer contain data that was replaced or deleted before the call; in a shared
   * database, it may leave that to the next {@link purgeDue}.
   */
  purge(): Promise<void>;
  /** Removes from the disk what `purge` put off, because others have to wait meanwhile. Called every hour. */
  purgeDue?(): Promise<void>;
  /**
   * The time at which the transaction began, or the present, by the clock of the database, in epoch milliseconds. For a
   * database that several machines share, whose clocks may differ.
   */
  nowMs?(tx?: Transaction): Promise<number>;
  /**
   * Takes or renews the lease of an exclusive task for `forMs`. False while another holder's lease is valid. With `forMs`
   * 0, releases it. Required where `isShared`.
   */
  lead?(task: string, holder: string, forMs: number): Promise<boolean>;
  /** The transaction of a handle. Asserts that it belongs to this database and is open. */
  inside(tx: Transaction): SqlTransaction;
}
