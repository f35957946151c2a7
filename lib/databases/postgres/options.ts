import type { Logger } from '../../base/logger.ts';
import type { TlsOptions } from '../../base/node-types.ts';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../time/clock.ts';

/** Options of a connection to Postgres. */
export interface PostgresOptions {
  /**
   * The schema (namespace) of the tables; created when missing. Services with different schemas share nothing.
   * Default `scenepress`.
   */
  schema?: string;
  /** Whether the start fails when the schema has no tables, instead of creating them. Default false. */
  mustExist?: boolean;
  /**
   * The password, instead of one in the URL. Called for each new connection, so that a password that was changed is
   * used without a restart.
   */
  password?: () => Promise<string | undefined>;
  /**
   * TLS: true verifies the server's certificate with the CAs of Node; an object has the options of `tls.connect`, such
   * as `ca`, `cert` and `key`. Default: as the URL says (`sslmode`), else none.
   */
  tls?: boolean | TlsOptions;
  /** Shown in `pg_stat_activity`. Default `scenepress`. */
  applicationName?: string;
  /**
   * Maximum number of connections for transactions (six of ten) and reads. Two of the six are only for workers, who must
   * not wait for the transactions of clients. A few more are opened for signals, for tasks that run alone and for slow
   * queries. Default 10.
   */
  maxConnections?: number;
  /** How long to wait for a connection, in milliseconds. Default 5 s. */
  connectTimeoutMs?: number;
  /** How long a statement may take, in milliseconds. Default 30 s. */
  statementTimeoutMs?: number;
  /**
   * How long a transaction may wait for its next statement, in milliseconds. A process that hangs holds its
   * locks for this long. Default 10 s.
   */
  idleTransactionTimeoutMs?: number;
  /** How long work is repeated after the connection failed, in milliseconds, before it rejects. Default 5 s. */
  retryForMs?: number;
  /** Default: the system's. */
  clock?: Clock;
  /** The source of keys, nonces, and delays before retries. */
  random?: Random;
  /** Default: silence. */
  logger?: Logger;
}
