import assert from 'node:assert/strict';
import { InProgress } from '../../async/in-progress.ts';
import { SingleFlight } from '../../async/single-flight.ts';
import { isScenepressError, ScenepressError } from '../../base/errors.ts';
import { silentLogger } from '../../base/logger.ts';
import type { Random } from '../../base/random.ts';
import type { SqlDatabase, SqlTransaction, SqlValue } from '../../storage/sql.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Transaction, TransactionOptions } from '../../storage/transaction.ts';
import type { Clock } from '../../time/clock.ts';
import { within } from '../../time/within.ts';
import { Confirmations, isCommitted } from './confirmations.ts';
import { type ConnectionSettings, Connections, type Purpose, settingsOf } from './connections.ts';
import { DiskSpace } from './disk-space.ts';
import { type PgClient, type PgQuery, type PgResult, type PooledClient, queryOf } from './driver.ts';
import { explained, isDisconnection, isRefusal } from './errors.ts';
import { KeyBlocks } from './key-blocks.ts';
import { Listener, type ListenerOptions } from './listener.ts';
import { LEAD, lockOf, lockTask, unlockTask } from './locks.ts';
import type { PostgresSchema } from './migrated-schema.ts';
import type { PostgresOptions } from './options.ts';
import { type Begun, PostgresTransaction, TRANSACTIONS } from './postgres-transaction.ts';
import { carryOutPurge, REQUEST_PURGE } from './purges.ts';
import { Retries } from './retries.ts';
import { assertOwnSessions } from './sessions.ts';

const DEFAULT_RETRY_FOR_MS = 5_000;
const BEGIN = queryOf('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE', []);
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "nowMs"';

/** An error of the database. */
interface Failure {
  error: unknown;
}

/** The place of a transaction among those of its process, which begin in the order of the calls. */
interface Turn {
  /** Called when the server knows the transaction, or its first attempt has failed. */
  begun: () => void;
  /** Waits for the transactions that were called before. */
  othersBegun: () => Promise<unknown>;
}

/** The outcome of one run of a transaction. */
type Attempt<T> = { kind: 'committed'; result: T } | { kind: 'failed'; error: unknown; failure?: Failure };

/** A schema of a Postgres database. Any number of processes may use it at the same time. */
export class PostgresDatabase implements SqlDatabase {
  readonly isShared = true;
  readonly #schema: PostgresSchema;
  readonly #mustExist: boolean;
  readonly #settings: ConnectionSettings;
  readonly #connections: Connections;
  readonly #confirmations: Confirmations;
  readonly #keys = new KeyBlocks();
  readonly #retrying: { clock: Clock; random: Random; retryForMs: number };
  readonly #join: PgQuery;
  /** Transactions, reads and tasks. */
  readonly #inProgress = new InProgress();
  readonly #listeners: Listener[] = [];
  /** Of transactions that the server may not know yet, in the order of the calls. */
  readonly #beginning = new Set<Promise<void>>();
  readonly #space: DiskSpace;
  #isOpen = false;
  readonly #starting = new SingleFlight();
  readonly #stopping = new SingleFlight();

  constructor(
    url: string,
    schema: PostgresSchema,
    options: PostgresOptions & { clock: Clock; random: Random },
  ) {
    const { clock, random, logger = silentLogger } = options;
    this.#schema = schema;
    this.#settings = settingsOf(options);
    this.#mustExist = options.mustExist ?? false;
    this.#connections = new Connections(url, this.#settings, logger);
    this.#confirmations = new Confirmations(random);
    this.#space = new DiskSpace(this.#connections, { clock, random });
    this.#retrying = { clock, random, retryForMs: options.retryForMs ?? DEFAULT_RETRY_FOR_MS };
    // After a lost connection, the id shows whether the transaction has ended.
    this.#join = queryOf(
      `SELECT pg_current_xact_id()::text AS id, ${NOW},
         pg_advisory_xact_lock_shared(${lockOf('?')})`,
      [`${this.#settings.schema} ${TRANSACTIONS}`],
    );
  }

  /** As {@link Storage.isFull}. */
  get isFull(): boolean {
    return this.#space.isFull;
  }

  /** Waits for a start or stop in progress. */
  start(): Promise<void> {
    return this.#starting.run(() => this.#start());
  }

  async #start(): Promise<void> {
    await this.#stopping.ended.catch(() => {});
    if (this.#isOpen) return;
    await this.#connections.open();
    try {
      await this.#retried(() =>
        this.#connections.alone(async (client) => {
          await assertOwnSessions(this.#connections, client, this.#retrying.random);
          await this.#schema.migrate(client, this.#settings.schema, { mustExist: this.#mustExist });
          await this.#confirmations.removeOld(client);
        }),
      );
      this.#isOpen = true;
      for (const listener of this.#listeners) listener.start();
    } catch (error) {
      await this.#connections.close(this.#retrying.clock);
      throw error;
    }
  }

  /**
   * Waits for what is in progress, but not for long for a server that does not answer: closes the connections then, which
   * ends the work. A start in progress rejects.
   */
  stop(): Promise<void> {
    return this.#stopping.run(() => this.#stop());
  }

  async #stop(): Promise<void> {
    if (this.#starting.isInProgress) {
      this.#connections.abandon();
      await this.#starting.ended.catch(() => {});
    }
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await Promise.all(this.#listeners.map((listener) => listener.stop()));
    const { clock, retryForMs } = this.#retrying;
    await within(clock, this.#settings.connectTimeoutMs + retryForMs, this.#inProgress.idle());
    await this.#connections.close(clock);
    await this.#inProgress.idle();
    await this.#space.stop(); // Work that fails until then may begin its trials.
  }

  async all<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return (await this.#read(text, values)).rows as Row[];
  }

  async get<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row | undefined> {
    return (await this.#read(text, values)).rows[0] as Row | undefined;
  }

  transaction<T>(
    work: (tx: SqlTransaction) => Promise<T>,
    { isUrgent = false }: TransactionOptions = {},
  ): Promise<T> {
    const purpose = isUrgent ? 'urgent transaction' : 'transaction';
    return this.#running(async () => {
      const retries = new Retries(this.#retrying);
      const turn = this.#turn();
      for (;;) {
        const attempt = await this.#attempt(work, { turn, purpose });
        if (attempt.kind === 'committed') return attempt.result;
        const { error, failure } = attempt;
        if (failure) {
          this.#space.note(failure.error);
          this.#keys.drop();
        }
        if (await retries.isWorthwhile(failure?.error ?? error, { isOurs: failure !== undefined })) continue;
        throw failure?.error === error ? explained(error) : error;
      }
    });
  }

  /** The lock belongs to a connection: when that is lost, another process may begin the task before `work` has ended. */
  alone<T>(task: string, work: () => Promise<T>): Promise<T | undefined> {
    const name = `${this.#settings.schema} task ${task}`;
    return this.#running(async () => {
      const client = await this.#retried(() => lockTask(this.#connections, name));
      if (!client) return undefined;
      try {
        return await work();
      } finally {
        await unlockTask(client, name, this.#settings.connectTimeoutMs);
      }
    });
  }

  /** As {@link Storage.lead}, by the clock of the server. */
  lead(task: string, holder: string, forMs: number): Promise<boolean> {
    const work = async (tx: SqlTransaction) => (await tx.all(LEAD, task, holder, forMs)).length > 0;
    return this.transaction(work, { isUrgent: true });
  }

  /** Calls back for messages to a channel of this schema, while the database is started. */
  listen(
    channel: string,
    { onMessage, onListening }: Pick<ListenerOptions, 'onMessage' | 'onListening'>,
  ): void {
    const { schema, connectTimeoutMs: timeoutMs } = this.#settings;
    const world = { connections: this.#connections, clock: this.#retrying.clock, timeoutMs };
    this.#listeners.push(new Listener({ ...world, channel: `${schema}_${channel}`, onMessage, onListening }));
  }

  /** Sends messages of up to 8,000 bytes to a channel of this schema. */
  async notify(channel: string, payloads: string[]): Promise<void> {
    await this.#read('SELECT pg_notify(?, payload) FROM unnest(string_to_array(?, chr(10))) AS payload', [
      `${this.#settings.schema}_${channel}`,
      payloads.join('\n'),
    ]);
  }

  queryInBackground<Row extends object>(text: string, ...values: SqlValue[]): Promise<Row[]> {
    return this.#running(() =>
      this.#retried(() =>
        this.#connections.alone(async (client) => (await client.query(queryOf(text, values))).rows as Row[]),
      ),
    );
  }

  /** Nothing is checked: that is the task of Postgres (`data_checksums`, `pg_amcheck`). */
  async check(): Promise<string[]> {
    return [];
  }

  /**
   * Puts it off until {@link purgeDue}, during which no other transaction can use the tables. The log (WAL), replicas and
   * backups are the task of the operator of Postgres.
   */
  async purge(): Promise<void> {
    await this.transaction((tx) => tx.run(REQUEST_PURGE));
  }

  /** As {@link Storage.purgeDue}: rewrites the tables with personal data. */
  purgeDue(): Promise<void> {
    const [tables, { clock }] = [this.#schema.purgedTables, this.#retrying];
    return this.#running(() =>
      this.#retried(() => this.#connections.alone((client) => carryOutPurge(client, tables, clock))),
    );
  }

  /** As {@link Storage.nowMs}. */
  async nowMs(tx?: Transaction): Promise<number> {
    const time = tx ? await this.inside(tx).begun : await this.get<{ nowMs: number }>(`SELECT ${NOW}`);
    assert(time, 'one row');
    return time.nowMs;
  }

  inside(tx: Transaction): PostgresTransaction {
    assert(tx instanceof PostgresTransaction && tx.store === this, 'a transaction of this database');
    assert(tx.open, 'a transaction that is still open');
    return tx;
  }

  #turn(): Turn {
    const others = [...this.#beginning];
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#beginning.add(promise);
    const begun = () => {
      this.#beginning.delete(promise);
      resolve();
    };
    return { begun, othersBegun: () => Promise.all(others) };
  }

  async #attempt<T>(
    work: (tx: SqlTransaction) => Promise<T>,
    { turn, purpose }: { turn: Turn; purpose: Purpose },
  ): Promise<Attempt<T>> {
    let client: PooledClient;
    try {
      client = await this.#connections.take(purpose);
    } catch (error) {
      turn.begun(); // Not awaited: its next attempt may need the connection of a transaction that waits.
      return failed(error);
    }
    const { schema } = this.#settings;
    const begun = this.#begin(client).finally(turn.begun);
    const tx = new PostgresTransaction(this, {
      client,
      schema,
      keys: this.#keys,
      begun,
      othersBegun: turn.othersBegun,
    });
    let isLost = true;
    try {
      const worked = await this.#worked(work, tx);
      const failure = worked.kind === 'failed' ? worked.failure : await this.#commit(client, tx);
      const attempt = worked.kind === 'committed' && failure ? failed(failure.error) : worked;
      if (attempt.kind === 'failed') {
        if (!failure || !isDisconnection(failure.error))
          isLost = await client.query('ROLLBACK').then(
            () => false,
            () => true,
          );
        return attempt;
      }
      isLost = tx.failure !== undefined;
      for (const listener of tx.listeners) listener();
      return attempt;
    } catch (error) {
      return failed(error);
    } finally {
      client.release(isLost);
    }
  }

  async #begin(client: PgClient): Promise<Begun> {
    const [, begun] = await Promise.all([client.query(BEGIN), client.query(this.#join)]);
    return begun.rows[0] as Begun;
  }

  async #worked<T>(work: (tx: SqlTransaction) => Promise<T>, tx: PostgresTransaction): Promise<Attempt<T>> {
    try {
      const result = await work(tx);
      // Its id is needed if the connection is lost during the commit.
      await tx.begun;
      tx.close();
      return { kind: 'committed', result };
    } catch (error) {
      tx.close();
      await tx.ended();
      return { kind: 'failed', error, ...(tx.failure && { failure: tx.failure }) };
    }
  }

  /**
   * Commits; returns why it did not happen. `tx.failure` is set when it happened, but the answer was lost: the connection
   * cannot be used again then.
   */
  async #commit(client: PgClient, tx: PostgresTransaction): Promise<Failure | undefined> {
    // Statements that the work did not wait for may write, too.
    if (!tx.hasWritten) await tx.ended();
    if (tx.failure) return tx.failure;
    if (!tx.hasWritten) {
      // Nothing to confirm: it can be repeated.
      await tx.commit(undefined);
      return undefined;
    }
    const confirmation = this.#confirmations.next();
    // Together with the last writes.
    const lost = await tx.commit(this.#confirmations.write(confirmation)).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const isUnknown = lost && !isRefusal(lost.error);
    // Its outcome is known when it has ended.
    if (isUnknown && !isDisconnection(lost.error)) await client.query('ROLLBACK').catch(() => {});
    // When this rejects, the server may still have the row: its slot is not used again.
    const hasHappened = isUnknown
      ? await isCommitted(
          { id: (await tx.begun).id, confirmation },
          { confirmations: this.#confirmations, connections: this.#connections },
          { ...this.#retrying, connectTimeoutMs: this.#settings.connectTimeoutMs },
        )
      : !lost;
    this.#confirmations.release(confirmation);
    if (!hasHappened) return lost;
    tx.failure = lost;
    return undefined;
  }

  #read(text: string, values: SqlValue[]): Promise<PgResult> {
    return this.#running(() =>
      this.#retried(async () => {
        const client = await this.#connections.take('read');
        let isLost = false;
        try {
          return await client.query(queryOf(text, values));
        } catch (error) {
          isLost = isDisconnection(error);
          throw error;
        } finally {
          client.release(isLost);
        }
      }),
    );
  }

  /** Repeats work that changes nothing, or can be repeated, after failures of the connection. */
  async #retried<T>(work: () => Promise<T>): Promise<T> {
    const retries = new Retries(this.#retrying);
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (await retries.isWorthwhile(error, { isOurs: true })) continue;
        throw isScenepressError(error) ? error : explained(error);
      }
    }
  }

  /** Runs work that {@link stop} waits for. */
  async #running<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#isOpen) throw new ScenepressError('not_running', 'The storage is closed.');
    return this.#inProgress.add(work());
  }
}

function failed(error: unknown): Attempt<never> {
  return { kind: 'failed', error, failure: { error } };
}
