import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { SQL_SCHEMAS } from 'scenepress';

/** An SQL database of your own. Here a file of Node's SQLite; yours is, for example, Postgres through another driver. */
export class SqliteDatabase {
  /** Only this process uses it. */
  isShared = false;
  #path;
  #writer;
  /** Sees what is committed. */
  #reader;
  /** Transactions run one at a time, so nothing needs a lock. */
  #last = Promise.resolve();
  #tasks = new Set();

  constructor(path) {
    this.#path = path;
  }

  async start() {
    if (this.#writer) return;
    this.#writer = new DatabaseSync(this.#path);
    this.#writer.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
    this.#writer.exec('PRAGMA secure_delete = ON');
    const { user_version: applied } = this.#writer.prepare('PRAGMA user_version').get();
    for (const [index, text] of SQL_SCHEMAS.sqlite.entries())
      if (index >= applied) this.#writer.exec(`BEGIN; ${text}; PRAGMA user_version = ${index + 1}; COMMIT`);
    this.#reader = new DatabaseSync(this.#path, { readOnly: true });
  }

  async stop() {
    await this.#last;
    this.#reader?.close();
    this.#writer?.close();
    this.#writer = undefined;
    this.#reader = undefined;
  }

  async all(text, ...values) {
    return this.#reader.prepare(text).all(...values);
  }

  async get(text, ...values) {
    return this.#reader.prepare(text).get(...values);
  }

  transaction(work) {
    const result = this.#last.then(() => this.#run(work));
    this.#last = result.catch(() => {});
    return result;
  }

  async #run(work) {
    const writer = this.#writer;
    const tx = new SqliteTransaction(this, writer);
    writer.exec('BEGIN IMMEDIATE');
    try {
      const result = await work(tx);
      tx.end();
      writer.exec('COMMIT'); // Flushed to the disk: `synchronous = FULL`.
      for (const listener of tx.listeners) listener();
      return result;
    } catch (error) {
      tx.end();
      if (writer.isTransaction) writer.exec('ROLLBACK');
      throw error;
    }
  }

  inside(tx) {
    assert(tx instanceof SqliteTransaction && tx.store === this, 'a transaction of this database');
    return tx;
  }

  async alone(task, work) {
    if (this.#tasks.has(task)) return undefined;
    this.#tasks.add(task);
    return await work().finally(() => this.#tasks.delete(task));
  }

  /** For a large database, in a thread. */
  async queryInBackground(text, ...values) {
    return this.all(text, ...values);
  }

  async check() {
    const rows = await this.all('PRAGMA integrity_check');
    return rows.map(({ integrity_check: fault }) => fault).filter((fault) => fault !== 'ok');
  }

  async purge() {
    await this.#last;
    this.#writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }
}

class SqliteTransaction {
  store;
  /** Each is committed alone. */
  group = this;
  listeners = [];
  #writer;

  constructor(store, writer) {
    this.store = store;
    this.#writer = writer;
  }

  end() {
    this.#writer = undefined;
  }

  #statement(text) {
    assert(this.#writer?.isTransaction, 'a transaction that has not ended');
    return this.#writer.prepare(text);
  }

  async all(text, ...values) {
    return this.#statement(text).all(...values);
  }

  async get(text, ...values) {
    return this.#statement(text).get(...values);
  }

  async run(text, ...values) {
    return this.#statement(text).run(...values).changes;
  }

  write(text, ...values) {
    this.#statement(text).run(...values);
  }

  async insert(table, _key, row) {
    const names = Object.keys(row);
    const marks = names.map(() => '?').join(', ');
    const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`;
    return this.#statement(text).run(...Object.values(row)).lastInsertRowid;
  }

  allForUpdate(text, ...values) {
    return this.all(text, ...values);
  }

  getForUpdate(text, ...values) {
    return this.get(text, ...values);
  }

  allUnlocked(text, ...values) {
    return this.all(text, ...values);
  }

  async lock() {}

  async lockAll() {}

  afterCommit(listener) {
    this.listeners.push(listener);
  }
}
