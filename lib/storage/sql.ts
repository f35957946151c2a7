import type { Storage, Transaction } from './storage.ts';

/** What a statement takes for a `?`, and what a column holds. Whole numbers up to 2^53. */
export type SqlValue = string | number | Uint8Array | null;

/** Reads rows. A statement is written once for all databases: `?` for each value, and only what their dialects share. */
export interface SqlReader {
  all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** The first row. */
  get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined>;
}

/** Reads what was committed, and what it wrote itself. */
export interface SqlTransaction extends SqlReader, Transaction {
  /** Resolves with the number of rows that it inserted, updated or deleted. */
  run(text: string, ...values: SqlValue[]): Promise<number>;
  /** Calls `listener` once what this transaction wrote is durable, before its promise resolves. */
  afterCommit(listener: () => void): void;
}

/**
 * A database that speaks SQL. Read outside of a transaction, it shows what is durable and nothing else: what a power cut
 * could still take back, no one has seen.
 */
export interface SqlDatabase extends SqlReader {
  /** Other processes may use it at the same time. */
  readonly isShared: boolean;
  start(): Promise<void>;
  /** Waits for running transactions. It can be started again. */
  stop(): Promise<void>;
  /**
   * Runs `work` isolated from other transactions, and commits what it wrote; resolves when that is durable. `work` may be
   * run again from the beginning when another transaction was in its way. When it throws, nothing is written.
   */
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T>;
  /** As {@link Storage.alone}. */
  alone<T>(task: string, work: () => Promise<T>): Promise<T | undefined>;
  /** A query that may take seconds, or minutes, without holding anything else. */
  aside<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]>;
  /** Reads the whole database, aside: a sentence for each place in its files that contradicts others. */
  check(): Promise<string[]>;
  /** Resolves when nothing that was replaced or deleted before the call is in the database's files any more. */
  purge(): Promise<void>;
  /** The transaction behind a handle. One of another database, or one that is over, is an assertion. */
  inside(tx: Transaction): SqlTransaction;
}
