import assert from 'node:assert/strict';
import type { SqlDatabase, SqlTransaction, SqlValue } from '../../storage/sql.ts';
import type { Connection } from './connection.ts';

/** A transaction of a {@link SqlDatabase} on one connection. */
export class SqliteTransaction implements SqlTransaction {
  readonly store: SqlDatabase;
  readonly #connection: Connection;
  readonly listeners: (() => void)[] = [];
  open = true;
  hasWritten = false;

  constructor(store: SqlDatabase, connection: Connection) {
    this.store = store;
    this.#connection = connection;
  }

  async all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#live.all<Row>(text, values);
  }

  async get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> {
    return this.#live.get<Row>(text, values);
  }

  async run(text: string, ...values: SqlValue[]): Promise<number> {
    this.hasWritten = true;
    return this.#live.run(text, values);
  }

  write(text: string, ...values: SqlValue[]): void {
    this.hasWritten = true;
    this.#live.run(text, values);
  }

  async insert(table: string, _key: string, row: Record<string, SqlValue>): Promise<number> {
    this.hasWritten = true;
    const [names, values] = [Object.keys(row), Object.values(row)];
    const marks = names.map(() => '?').join(', ');
    return this.#live.insert(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`, values);
  }

  // Transactions run one at a time, so nothing needs a lock.

  allForUpdate<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.all(text, ...values);
  }

  getForUpdate<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> {
    return this.get(text, ...values);
  }

  allUnlocked<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.all(text, ...values);
  }

  async lock(): Promise<void> {}

  async lockAll(): Promise<void> {}

  afterCommit(listener: () => void): void {
    assert(this.open, 'a transaction that is still open');
    this.listeners.push(listener);
  }

  get #live(): Connection {
    // SQLite rolls back after a full disk, and would commit later statements one by one.
    assert(this.open && this.#connection.isInTransaction, 'a transaction that is still open');
    return this.#connection;
  }
}

/** A group commit: transactions that are flushed together. */
export class CommitGroup {
  commits = 0;
  /** Called before {@link durable} resolves. */
  readonly listeners: (() => void)[] = [];
  /** Settles for all transactions of the group. */
  readonly durable: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // Each of the transactions gets the rejection.
    this.durable = promise;
    this.resolve = resolve;
    this.reject = reject;
  }
}
