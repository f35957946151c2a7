import assert from 'node:assert/strict';
import { join } from 'node:path';
import { InProgress } from '../../lib/async/in-progress.ts';
import type { Random } from '../../lib/base/random.ts';
import { SqliteDatabase } from '../../lib/databases/sqlite/sqlite-database.ts';
import { ScenepressError, type Transaction } from '../../lib/index.ts';
import { SqlLedgerStore } from '../../lib/sql/sql-ledger-store.ts';
import { SqlStorage } from '../../lib/sql/sql-storage.ts';
import { SQLITE_SCHEMA } from '../../lib/sql/sqlite/schema.ts';
import type { SqlDatabase, SqlTransaction, SqlValue } from '../../lib/storage/sql.ts';
import type { Storage } from '../../lib/storage/storage.ts';
import type { FakeClock } from '../fixtures/fake-clock.ts';
import { inForeground } from './in-foreground.ts';

/** How long a connection tries again, as that of Postgres. */
const RETRY_FOR_MS = 5_000;
const RETRY_AFTER_MS = 300;
const USUAL_TRIP_MS = 20;
const SLOW_TRIP_MS = 2_000;

/** The transaction is run again. */
const CONFLICT = new Error('a conflict with another transaction');

/**
 * A database server of several processes: an SQLite database, with a clock of its own, whose transactions run one at a
 * time, each at one moment.
 */
export class SharedDatabase {
  readonly clock: FakeClock;
  readonly database: SqliteDatabase;
  readonly random: () => number;
  /** It fails: transactions conflict, and answers are late. */
  isFaulty = true;
  /** It answers nothing. */
  isDown = false;
  /** Who carries out exclusive tasks, by task. */
  readonly tasks: Map<string, SharedConnection> = new Map();
  readonly #leases = new Map<string, { holder: string; lapsesAtMs: number }>();
  /** Transactions that have begun. */
  open = 0;

  constructor(folder: string, { clock, random }: { clock: FakeClock; random: () => number }) {
    this.clock = clock;
    this.random = random;
    this.database = new SqliteDatabase(join(folder, 'database.sqlite'), SQLITE_SCHEMA, {
      clock,
      flushFile: async () => {},
      onFatal: (error) => assert.fail(error),
      background: inForeground,
    });
  }

  /** As {@link Storage.lead}. */
  lead(task: string, holder: string, forMs: number): boolean {
    const lease = this.#leases.get(task);
    const nowMs = this.clock.now();
    if (lease && lease.holder !== holder && lease.lapsesAtMs > nowMs) return false;
    this.#leases.set(task, { holder, lapsesAtMs: nowMs + forMs });
    return true;
  }

  /** Connections that were lost no longer have exclusive tasks. */
  drop(connection: SharedConnection): void {
    for (const [task, owner] of this.tasks) if (owner === connection) this.tasks.delete(task);
  }
}

/** A process's connection to a {@link SharedDatabase}. What is asked, and each answer, takes time, or does not arrive. */
export class SharedConnection implements SqlDatabase {
  readonly isShared = true;
  readonly #server: SharedDatabase;
  /** Undefined: everything is answered at once. */
  readonly #clock: FakeClock | undefined;
  readonly #inProgress = new InProgress();
  #isOpen = false;
  /** The network does not reach the server. */
  isCut = false;

  /** `clock`: that of the process; default: it is an observer, for whom nothing takes time. */
  constructor(server: SharedDatabase, clock?: FakeClock) {
    this.#server = server;
    this.#clock = clock;
  }

  async start(): Promise<void> {
    await this.#reach();
    this.#isOpen = true;
  }

  async stop(): Promise<void> {
    this.#isOpen = false;
    while (this.#inProgress.size > 0) await this.#inProgress.settled();
    this.#server.drop(this);
  }

  all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#ask(() => this.#server.database.all<Row>(text, ...values));
  }

  get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> {
    return this.#ask(() => this.#server.database.get<Row>(text, ...values));
  }

  /** Its commit may be lost on the way back: then it rejects, as that of Postgres, although it has happened. */
  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    return this.#ask(async () => {
      for (;;) {
        try {
          return await this.#server.database.transaction((tx) => this.#run(work, tx));
        } catch (error) {
          if (error !== CONFLICT) throw error;
        }
      }
    });
  }

  async #run<T>(work: (tx: SqlTransaction) => Promise<T>, tx: SqlTransaction): Promise<T> {
    this.#server.open += 1;
    try {
      const result = await work(tx);
      if (this.#fails(0.01)) throw CONFLICT;
      return result;
    } finally {
      this.#server.open -= 1;
    }
  }

  alone<T>(task: string, work: () => Promise<T>): Promise<T | undefined> {
    return this.#running(async () => {
      await this.#reach();
      const { tasks } = this.#server;
      if (tasks.has(task)) return undefined;
      tasks.set(task, this);
      try {
        return await work();
      } finally {
        if (tasks.get(task) === this) tasks.delete(task);
      }
    });
  }

  lead(task: string, holder: string, forMs: number): Promise<boolean> {
    return this.#ask(async () => this.#server.lead(task, holder, forMs));
  }

  queryInBackground<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#ask(() => this.#server.database.queryInBackground<Row>(text, ...values));
  }

  async check(): Promise<string[]> {
    return [];
  }

  async purge(): Promise<void> {}

  inside(tx: Transaction): SqlTransaction {
    return this.#server.database.inside(tx);
  }

  #ask<T>(work: () => Promise<T>): Promise<T> {
    return this.#running(async () => {
      await this.#reach();
      const result = await work();
      await this.#reach();
      return result;
    });
  }

  async #running<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isOpen) throw new ScenepressError('not_running', 'The storage is closed.');
    return this.#inProgress.add(work());
  }

  /** A way to the server, or back. */
  async #reach(): Promise<void> {
    const clock = this.#clock;
    if (!clock) return;
    const { random } = this.#server;
    const untilMs = clock.uptimeMs() + RETRY_FOR_MS;
    for (let tripMs = this.#fails(0.01) ? SLOW_TRIP_MS : USUAL_TRIP_MS; ; tripMs = RETRY_AFTER_MS) {
      await new Promise<void>((resolve) => clock.after(random() * tripMs, resolve));
      if (!this.isCut && !this.#server.isDown) return;
      if (clock.uptimeMs() < untilMs) continue;
      throw new ScenepressError('storage_failed', 'The database can’t be reached.', { retryAfterMs: 1_000 });
    }
  }

  #fails(share: number): boolean {
    return this.#clock !== undefined && this.#server.isFaulty && this.#server.random() < share;
  }
}

/** The stores of a process, in a shared database. */
export function sharedStores(
  server: SharedDatabase,
  connection: SharedConnection,
  bytes: Random,
): { storage: Storage; ledgerStore: SqlLedgerStore } {
  const storage = Object.assign(new SqlStorage(connection, bytes), {
    nowMs: async () => server.clock.now(),
    lead: (task: string, holder: string, forMs: number) => connection.lead(task, holder, forMs),
  });
  return { storage, ledgerStore: new SqlLedgerStore(connection, storage) };
}
