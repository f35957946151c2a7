import assert from 'node:assert/strict';
import { ScenepressError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { Clock } from '../../time/clock.ts';
import { within } from '../../time/within.ts';
import {
  loadDriver,
  type PgClient,
  type PgDriver,
  type PgPool,
  type PgTypes,
  type PooledClient,
} from './driver.ts';
import { RETRY_AFTER_MS } from './errors.ts';
import type { PostgresOptions } from './options.ts';

const DEFAULT_SCHEMA = 'scenepress';
/** How much longer than the server this process waits for a statement: the server's error is more precise. */
const CLIENT_GRACE_MS = 5_000;

/** When an idle connection is tested: locks of a machine that died must not outlast it for hours. */
const KEEP_ALIVE_SECONDS = 10;
/** How long the server waits until this machine takes what it sends. A process that is frozen keeps its locks meanwhile. */
const MOST_SENDING_SECONDS = 20;

/** Numbers of types whose values are read as numbers: `bigint`, and `numeric`, the type of its sums. */
const NUMBERS = [20, 1700];

export type ConnectionSettings = Required<
  Pick<
    PostgresOptions,
    | 'schema'
    | 'applicationName'
    | 'maxConnections'
    | 'connectTimeoutMs'
    | 'statementTimeoutMs'
    | 'idleTransactionTimeoutMs'
  >
> & { tls: PostgresOptions['tls'] | undefined; password: PostgresOptions['password'] | undefined };

/** Fills in the defaults. */
export function settingsOf(options: PostgresOptions): ConnectionSettings {
  const { schema = DEFAULT_SCHEMA, maxConnections = 10 } = options;
  assert(
    /^[a-z_][a-z0-9_]{0,40}$/.test(schema),
    '`schema` consists of lower-case letters, digits and underscores',
  );
  assert(
    Number.isInteger(maxConnections) && maxConnections >= 2,
    '`maxConnections` is a whole number of at least 2',
  );
  return {
    schema,
    maxConnections,
    applicationName: options.applicationName ?? 'scenepress',
    connectTimeoutMs: options.connectTimeoutMs ?? 5_000,
    statementTimeoutMs: options.statementTimeoutMs ?? 30_000,
    idleTransactionTimeoutMs: options.idleTransactionTimeoutMs ?? 10_000,
    tls: options.tls,
    password: options.password,
  };
}

/** Share of connections used for reads outside of transactions. */
const READS_SHARE = 0.4;
/** The part of the others that only urgent transactions use. */
const RESERVED_SHARE = 1 / 3;

/** What a connection of a pool is for. Urgent transactions do not wait until others return their connections. */
export type Purpose = 'transaction' | 'urgent transaction' | 'read';

interface Pool {
  pool: PgPool;
  max: number;
}

interface Opened {
  driver: PgDriver;
  transactions: Pool;
  /** For urgent transactions while all connections for transactions are in use. */
  reserved: Pool;
  reads: Pool;
}

/**
 * The connections of a process: pools for transactions, urgent ones and reads, and single ones that are opened when
 * needed. A transaction may wait for a read outside of it, so reads must not wait for transactions.
 */
export class Connections {
  readonly #url: string;
  readonly #settings: ConnectionSettings;
  readonly #logger: Logger;
  #opened: Opened | undefined;
  /** Connections of the pools that have been used before. */
  readonly #prepared = new WeakSet<PgClient>();
  /** Connections that are not closed, and when each is. */
  readonly #unclosed = new Map<PgClient, Promise<void>>();

  constructor(url: string, settings: ConnectionSettings, logger: Logger) {
    // The message must not contain the URL, which has the password.
    assert(/^postgres(ql)?:\/\//.test(url) && URL.canParse(url), 'a URL that starts with postgres://');
    this.#url = settings.tls === undefined ? url : withoutTls(url);
    this.#settings = settings;
    this.#logger = logger;
  }

  /** Loads the driver. Opens no connection. */
  async open(): Promise<void> {
    const driver = withPassword(await loadDriver(), this.#settings.password);
    const { maxConnections } = this.#settings;
    const reads = Math.round(maxConnections * READS_SHARE);
    const reserved = Math.floor((maxConnections - reads) * RESERVED_SHARE);
    this.#opened = {
      driver,
      transactions: this.#pool(driver, maxConnections - reads - reserved),
      reserved: this.#pool(driver, reserved),
      reads: this.#pool(driver, reads),
    };
  }

  #pool(driver: PgDriver, max: number): Pool {
    const query_timeout = this.#settings.statementTimeoutMs + CLIENT_GRACE_MS;
    const { Client } = driver;
    const config = { ...this.#config(driver.types), Client, max, query_timeout, pipeline: true };
    const pool = new driver.Pool(config);
    // Errors of idle connections; the pool removes these connections.
    pool.on('error', (error) => this.#logger.warn({ err: error }, 'An idle connection to Postgres failed.'));
    return { pool, max };
  }

  /**
   * Waits until all connections have been returned and are closed. A server that does not answer does not close them:
   * those that it has not closed in time are destroyed.
   */
  async close(clock: Clock): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (!opened) return;
    const { transactions, reserved, reads } = opened;
    const ended = Promise.all([transactions, reserved, reads].map(({ pool }) => pool.end()));
    const closed = ended.then(() => Promise.all(this.#unclosed.values()));
    await within(clock, this.#settings.connectTimeoutMs, closed);
    this.#destroy();
  }

  /** Ends a start in progress: no more connections are opened, and those that are open are destroyed. */
  abandon(): void {
    this.#opened = undefined;
    this.#destroy();
  }

  #destroy(): void {
    for (const { connection } of this.#unclosed.keys()) connection.stream.destroy();
  }

  /** Takes a connection from a pool; the caller must release it. */
  async take(purpose: Purpose): Promise<PooledClient> {
    const client = await this.#poolFor(purpose).connect();
    if (this.#prepared.has(client)) return client;
    this.#watch(client);
    try {
      await this.#prepare(client, this.#settings.statementTimeoutMs);
    } catch (error) {
      client.release(true);
      throw error;
    }
    this.#prepared.add(client);
    return client;
  }

  #poolFor(purpose: Purpose): PgPool {
    const { transactions, reserved, reads } = this.#live;
    if (purpose === 'read') return reads.pool;
    const isFree = freeOf(transactions) > 0 || reserved.max === 0;
    return purpose === 'transaction' || isFree ? transactions.pool : reserved.pool;
  }

  /** Opens a connection outside the pool, without a statement time-out. The caller must end it. */
  async single(): Promise<PgClient> {
    const { driver } = this.#live;
    const client = new driver.Client(this.#config(driver.types));
    this.#watch(client);
    await client.connect();
    try {
      await this.#prepare(client, 0);
    } catch (error) {
      await client.end();
      throw error;
    }
    return client;
  }

  /** Runs `work` on a connection outside the pool. */
  async alone<T>(work: (client: PgClient) => Promise<T>): Promise<T> {
    const client = await this.single();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  get #live(): Opened {
    if (this.#opened) return this.#opened;
    throw new ScenepressError('not_running', 'The storage is closed.');
  }

  #config(types: PgTypes): object {
    const { tls, applicationName, connectTimeoutMs } = this.#settings;
    return {
      connectionString: this.#url,
      application_name: applicationName,
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_SECONDS * 1000,
      ...(tls !== undefined && { ssl: tls }),
      types: {
        getTypeParser: (type: number, format?: string) =>
          NUMBERS.includes(type) ? Number : types.getTypeParser(type, format),
      },
    };
  }

  /** Running statements reject, too. An error event without a listener would end the process. */
  #watch(client: PgClient): void {
    client.on('error', (error) => this.#logger.debug({ err: error }, 'A connection to Postgres failed.'));
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    client.once('end', resolve);
    this.#unclosed.set(client, closed);
    void closed.then(() => this.#unclosed.delete(client));
  }

  /** Not in the start-up message: proxies reject it there, and an option in the URL would replace it. */
  async #prepare(client: PgClient, statementTimeoutMs: number): Promise<void> {
    const { schema, idleTransactionTimeoutMs, connectTimeoutMs } = this.#settings;
    // A commit must be durable, whatever the database's default is.
    const text = `SET search_path TO ${schema}; SET statement_timeout TO ${statementTimeoutMs};
       SET idle_in_transaction_session_timeout TO ${idleTransactionTimeoutMs};
       SET tcp_keepalives_idle TO ${KEEP_ALIVE_SECONDS}; SET tcp_keepalives_interval TO 5; SET tcp_keepalives_count TO 3;
       SET tcp_user_timeout TO '${MOST_SENDING_SECONDS}s';
       SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
    await client.query({ text, query_timeout: connectTimeoutMs });
  }
}

/** How many callers would not have to wait for a connection. */
function freeOf({ pool, max }: Pool): number {
  return max - pool.totalCount + pool.idleCount - pool.waitingCount;
}

/**
 * A driver that asks for the password at each connection. In the configuration it would be replaced by the empty one of
 * the URL.
 */
function withPassword(driver: PgDriver, password: PostgresOptions['password']): PgDriver {
  if (!password) return driver;
  const asked = (): Promise<string | undefined> =>
    password().catch((cause: Error) => {
      throw new ScenepressError('storage_failed', `There is no password for Postgres: ${cause.message}`, {
        cause,
        retryAfterMs: RETRY_AFTER_MS,
      });
    });
  class Client extends driver.Client {
    constructor(config: object) {
      super(config);
      Object.assign(this, { password: asked });
    }
  }
  return { Pool: driver.Pool, Client, types: driver.types };
}

/** The driver prefers parameters of the URL to its options. */
function withoutTls(url: string): string {
  const bare = new URL(url);
  for (const name of [...bare.searchParams.keys()])
    if (name.startsWith('ssl') || name === 'uselibpqcompat') bare.searchParams.delete(name);
  return bare.href;
}
