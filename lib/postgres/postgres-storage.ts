import { known, type Names } from '../base/known-options.ts';
import { systemRandom } from '../base/random.ts';
import type { MachineStore } from '../cluster/machine-store.ts';
import type { PostgresOptions } from '../databases/postgres/options.ts';
import { PostgresDatabase } from '../databases/postgres/postgres-database.ts';
import { StoredMasterKey } from '../keys/stored-master-key.ts';
import { QUALITY_NAMES } from '../model/qualities.ts';
import { POSTGRES_SCHEMA } from '../sql/postgres/schema.ts';
import { type SqlStores, sqlStorage } from '../sql/sql-stores.ts';
import { type WaitingWork, waitingWork } from '../sql/waiting-work.ts';
import type { InstallationRecords } from '../storage/installation-records.ts';
import type { Signals } from '../storage/signals.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import { systemClock } from '../time/clock.ts';
import { clockAheadMs } from './clock-ahead.ts';
import { PostgresInstallation } from './postgres-installation.ts';
import { PostgresMachines } from './postgres-machines.ts';
import { PostgresMasterKeyRecords } from './postgres-master-key-records.ts';
import { type PostgresRights, rightsOf } from './postgres-rights.ts';
import { PostgresSignals } from './postgres-signals.ts';

/** All that a service keeps, in Postgres. */
export interface PostgresStorage extends SqlStores {
  /** Tells all processes of changes, by `LISTEN`. */
  readonly signals: Signals;
  /** The processes that use the storage, if they report to it. */
  readonly machineStore: MachineStore;
  /** Checks the master key that a process was given: `masterKey.load({ given })`. */
  readonly masterKey: StoredMasterKey;
  /** Recognizes a restored dump, which must not share an asset store with the original. */
  readonly installation: InstallationRecords;
  /** What the user of its connections may do beyond rendering. */
  rights(): Promise<PostgresRights>;
  /** How far the clock of this machine is ahead of that of the database, in milliseconds. */
  clockAheadMs(): Promise<number>;
  /** Where the data was moved to; undefined if it was not. */
  movedTo(): Promise<string | undefined>;
  /** @internal */
  readonly database: SqlDatabase;
  /** The work that waits, by quality. */
  waitingWork(): Promise<WaitingWork[]>;
  /** The size of the tables with their indexes, in bytes. */
  databaseBytes(): Promise<number>;
  /** The size of all artifacts that are kept, as recorded with their jobs. Reads all of these. */
  artifactBytes(): Promise<number>;
}

const OPTIONS: Names<PostgresOptions> = {
  schema: true,
  mustExist: true,
  password: true,
  tls: true,
  applicationName: true,
  maxConnections: true,
  connectTimeoutMs: true,
  statementTimeoutMs: true,
  idleTransactionTimeoutMs: true,
  retryForMs: true,
  clock: true,
  random: true,
  logger: true,
};

const DATABASE_BYTES = `SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`;
const ARTIFACT_BYTES = `SELECT coalesce(sum((artifact ->> 'sizeBytes')::bigint), 0)::bigint AS bytes
  FROM jobs, json_array_elements(jobs.artifacts::json) AS artifact
  WHERE phase = 'completed' AND artifacts <> '[]' AND artifacts_removed_at_ms IS NULL`;

/**
 * Keeps jobs, queue, deliveries, books, accounts and keys in Postgres 13 or newer, for services of several processes and
 * machines. Needs the package `pg`. `url`: `postgres://user:password@host:port/database`. Creates and migrates its
 * tables at the start. Errors of `start`: `storage_failed` when the database cannot be reached, `conflict` when it
 * cannot be used.
 *
 * ```ts
 * const storage = postgres('postgres://scenepress:…@db.example.org/studio', { tls: true });
 * const service = new RenderService({ storage, assets, workFolder: '/var/tmp/renders' });
 * ```
 */
export function postgres(url: string, options: PostgresOptions = {}): PostgresStorage {
  const { clock = systemClock, random = systemRandom } = known('postgres', options, OPTIONS);
  const database = new PostgresDatabase(url, POSTGRES_SCHEMA, { ...options, clock, random });
  return Object.assign(sqlStorage(database, { random }), {
    signals: new PostgresSignals(database, { clock, id: random.bytes(8).toString('hex') }),
    machineStore: new PostgresMachines(database, clock),
    masterKey: new StoredMasterKey(new PostgresMasterKeyRecords(database), { random }),
    installation: new PostgresInstallation(database),
    rights: () => rightsOf(database),
    clockAheadMs: () => clockAheadMs(clock, () => database.nowMs()),
    movedTo: async () => (await database.get<{ target: string }>('SELECT target FROM moved'))?.target,
    database,
    waitingWork: () => waitingWork(database, QUALITY_NAMES),
    databaseBytes: () => bytesOf(database, DATABASE_BYTES),
    artifactBytes: () => bytesOf(database, ARTIFACT_BYTES),
  });
}

async function bytesOf(database: PostgresDatabase, query: string): Promise<number> {
  const [row] = await database.queryInBackground<{ bytes: number }>(query);
  return row?.bytes ?? 0;
}
