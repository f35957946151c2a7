import assert from 'node:assert/strict';
import type { SqlDatabase, SqlTransaction, SqlValue } from '../storage/sql.ts';
import { type PgClient, type PgQuery, type PgResult, sendTogether } from './driver.ts';
import { isAborted } from './errors.ts';
import { lockOf } from './locks.ts';
import { queryOf } from './statements.ts';

/** A transaction that has begun: its id, and the time of the server. */
export interface Begun {
  id: string;
  nowMs: number;
}

export interface PostgresTransactionOptions {
  client: PgClient;
  schema: string;
  /** Resolves when it has begun; statements may be sent before. */
  begun: Promise<Begun>;
  /** Waits for earlier transactions of this process that have not reached the server. */
  othersBegun: () => Promise<unknown>;
}

/**
 * A transaction of a {@link SqlDatabase} on one connection.
 *
 * It reads committed data, and locks what it decides from: transactions that need the same row or lock wait for each
 * other. Serializable transactions would fail instead, and be repeated: on the rows of an owner and the newest pages of
 * the indexes nearly always.
 */
export class PostgresTransaction implements SqlTransaction {
  readonly store: SqlDatabase;
  readonly group: object = this;
  readonly #client: PgClient;
  readonly #schema: string;
  readonly #othersBegun: () => Promise<unknown>;
  readonly begun: Promise<Begun>;
  #hasBegun = false;
  /** Whether statements wait until the transaction has begun. */
  #waits = false;
  readonly listeners: (() => void)[] = [];
  open = true;
  /** Whether there is anything to commit. */
  hasWritten = false;
  /** The error of the first statement that failed: Postgres refuses all later ones with an error of its own. */
  failure: { error: unknown } | undefined;
  /** The last statement that was called. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: SqlDatabase, { client, schema, begun, othersBegun }: PostgresTransactionOptions) {
    this.store = store;
    this.#client = client;
    this.#schema = schema;
    this.#othersBegun = othersBegun;
    this.begun = begun;
    this.#note(
      begun.then(() => {
        this.#hasBegun = true;
      }),
    );
  }

  async all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return (await this.#query(text, values)).rows as Row[];
  }

  async get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> {
    return (await this.#query(text, values)).rows[0] as Row | undefined;
  }

  async insert(text: string, ...values: SqlValue[]): Promise<number> {
    this.hasWritten = true;
    const { rows } = await this.#change(`${text} RETURNING *`, values);
    // The key is the first column.
    return Object.values(rows[0] ?? {})[0] as number;
  }

  async run(text: string, ...values: SqlValue[]): Promise<number> {
    const { rowCount } = await this.#change(text, values);
    if (rowCount !== 0) this.hasWritten = true;
    return rowCount ?? 0;
  }

  write(text: string, ...values: SqlValue[]): void {
    this.hasWritten = true;
    this.#change(text, values).catch(() => {}); // Kept in `failure`.
  }

  // Not FOR UPDATE, which would also block the foreign keys that refer to the rows.

  allForUpdate<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.all(`${text} FOR NO KEY UPDATE`, ...values);
  }

  getForUpdate<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> {
    return this.get(`${text} FOR NO KEY UPDATE`, ...values);
  }

  allUnlocked<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.all(`${text} FOR NO KEY UPDATE SKIP LOCKED`, ...values);
  }

  async lock(name: string): Promise<void> {
    await this.#query(`SELECT pg_advisory_xact_lock(${lockOf('?')})`, [`${this.#schema} ${name}`]);
  }

  async lockAll(): Promise<void> {
    await this.#othersBegun();
    await this.lock(TRANSACTIONS);
  }

  afterCommit(listener: () => void): void {
    assert(this.open, 'a transaction that is still open');
    this.listeners.push(listener);
  }

  /** Refuses further statements. */
  close(): void {
    this.open = false;
  }

  /** Resolves when all statements have ended. */
  async ended(): Promise<void> {
    await this.#last;
  }

  #change(text: string, values: SqlValue[]): Promise<PgResult> {
    // If the transaction does not begin, the statement would be committed on its own. Reads are harmless.
    if (!this.#hasBegun) this.#waits = true;
    return this.#query(text, values);
  }

  #query(text: string, values: SqlValue[]): Promise<PgResult> {
    assert(this.open, 'a transaction that is still open');
    const query = queryOf(text, values);
    const waits = this.#waits && !this.#hasBegun;
    const done = waits ? this.begun.then(() => this.#send(query)) : this.#send(query);
    this.#note(done);
    return done;
  }

  #note(done: Promise<unknown>): void {
    const before = this.#last;
    this.#last = done.then(
      () => before,
      (error: unknown) => {
        if (!this.failure || isAborted(this.failure.error)) this.failure = { error };
        return before;
      },
    );
  }

  async #send(query: PgQuery): Promise<PgResult> {
    if (this.failure) throw this.failure.error;
    return sendTogether(this.#client, query);
  }
}

/** Each transaction shares this lock; {@link PostgresTransaction.lockAll} waits for all of them. */
export const TRANSACTIONS = 'transactions';
