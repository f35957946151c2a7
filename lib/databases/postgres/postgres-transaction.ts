import assert from 'node:assert/strict';
import type { SqlDatabase, SqlTransaction, SqlValue } from '../../storage/sql.ts';
import { type PgClient, type PgQuery, type PgResult, queryOf } from './driver.ts';
import type { KeyBlocks } from './key-blocks.ts';
import { lockOf } from './locks.ts';

const COMMIT = queryOf('COMMIT', []);
const NEW_BLOCK = 'SELECT nextval(pg_get_serial_sequence(?, ?)) AS first';

/** A transaction that has begun: its id, and the time of the server. */
export interface Begun {
  id: string;
  nowMs: number;
}

export interface PostgresTransactionOptions {
  /** Its connection, on which the statements that begin it have been called. */
  client: PgClient;
  schema: string;
  keys: KeyBlocks;
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
  readonly #client: PgClient;
  readonly #schema: string;
  readonly #keys: KeyBlocks;
  readonly #othersBegun: () => Promise<unknown>;
  readonly begun: Promise<Begun>;
  readonly listeners: (() => void)[] = [];
  open = true;
  /** Whether there is anything to commit. */
  hasWritten = false;
  /** The error of the first statement that failed; the server refuses all others. */
  failure: { error: unknown } | undefined;
  /** Whether a statement that writes was called. */
  #isWriting = false;
  #addingKeys: Promise<void> | undefined;
  /** The last statement that was called. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: SqlDatabase, { client, schema, keys, begun, othersBegun }: PostgresTransactionOptions) {
    this.store = store;
    this.#client = client;
    this.#schema = schema;
    this.#keys = keys;
    this.#othersBegun = othersBegun;
    this.begun = this.#noted(begun);
  }

  async all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return (await this.#query(text, values)).rows as Row[];
  }

  async get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> {
    return (await this.#query(text, values)).rows[0] as Row | undefined;
  }

  async insert(table: string, key: string, row: Record<string, SqlValue>): Promise<number> {
    let taken = this.#keys.take(table);
    for (; taken === undefined; taken = this.#keys.take(table)) await this.#addKeys(table, key);
    const names = [key, ...Object.keys(row)];
    const marks = names.map(() => '?').join(', ');
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`;
    this.write(text, taken, ...Object.values(row));
    return taken;
  }

  /** One query for all inserts of this transaction. Not for those of others, whose locks it may have to wait for. */
  async #addKeys(table: string, key: string): Promise<void> {
    this.#addingKeys ??= this.get<{ first: number }>(NEW_BLOCK, table, key)
      .then((row) => this.#keys.add(table, row?.first as number))
      .finally(() => {
        this.#addingKeys = undefined;
      });
    await this.#addingKeys;
  }

  async run(text: string, ...values: SqlValue[]): Promise<number> {
    this.#isWriting = true;
    const { rowCount } = await this.#query(text, values);
    if (rowCount !== 0) this.hasWritten = true;
    return rowCount ?? 0;
  }

  write(text: string, ...values: SqlValue[]): void {
    this.#isWriting = true;
    this.hasWritten = true;
    this.#query(text, values).catch(() => {}); // Kept in `failure`.
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

  /** Writes `confirmation`, if there is anything to commit, and commits. Rejects when that is refused or the answer is lost. */
  async commit(confirmation: PgQuery | undefined): Promise<void> {
    const sent = [...(confirmation ? [confirmation] : []), COMMIT].map((query) => this.#send(query));
    await Promise.allSettled(sent);
    await this.ended();
    const { command } = (await sent.at(-1)) as PgResult;
    if (this.failure) throw this.failure.error;
    assert(command === 'COMMIT', 'a transaction whose statements have not failed');
  }

  #query(text: string, values: SqlValue[]): Promise<PgResult> {
    assert(this.open, 'a transaction that is still open');
    return this.#send(queryOf(text, values));
  }

  #send(query: PgQuery): Promise<PgResult> {
    // After a BEGIN that failed, the server would carry out each statement at once.
    const done = this.#isWriting ? this.begun.then(() => this.#sendNow(query)) : this.#sendNow(query);
    return this.#noted(done);
  }

  /** Together with all that is called until the end of this tick: each packet wakes the server. */
  #sendNow(query: PgQuery): Promise<PgResult> {
    const { stream } = this.#client.connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
    return this.#client.query(query);
  }

  /** All statements after one that failed reject with its error. */
  #noted<T>(done: Promise<T>): Promise<T> {
    const before = this.#last;
    const noted = done.catch((error: unknown) => {
      this.failure ??= { error };
      throw this.failure.error;
    });
    this.#last = noted.then(
      () => before,
      () => before,
    );
    return noted;
  }
}

/** Each transaction shares this lock; {@link PostgresTransaction.lockAll} waits for all of them. */
export const TRANSACTIONS = 'transactions';
