import { ScenepressError } from '../../base/errors.ts';
import { Migrations } from '../migrations.ts';
import type { PgClient } from './driver.ts';
import { lockOf } from './locks.ts';

/** `hashtextextended`, `pg_current_xact_id`. */
const OLDEST_SERVER = 130_000;

const MIGRATIONS = `CREATE TABLE IF NOT EXISTS migrations (
  version bigint PRIMARY KEY,
  compatible_from bigint NOT NULL,
  checksum bigint NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

/** A table of a build without checksums has no such column. */
const APPLIED = `SELECT version, compatible_from AS "compatibleFrom",
  (to_jsonb(migrations) ->> 'checksum')::bigint AS checksum FROM migrations ORDER BY version`;

interface Applied {
  version: number;
  compatibleFrom: number;
  checksum: number | null;
}

/**
 * A numbered change of the tables. `compatibleFrom`: the oldest version whose programs work with the result, so that
 * they need not be stopped for it; a text is compatible with the new version only. A compatible change adds tables,
 * indexes, or columns that may be null or have a default.
 */
export type Migration = string | { sql: string; compatibleFrom: number };

/** The schema of a database, built by numbered migrations. */
export class PostgresSchema {
  readonly migrations: Migrations;
  /** The oldest version that works with the result of each migration. */
  readonly #compatibleFrom: number[];
  /** Tables with data that must not remain in the files after it was replaced or deleted. */
  readonly purgedTables: string[];

  constructor({ migrations, purgedTables }: { migrations: Migration[]; purgedTables: string[] }) {
    this.migrations = new Migrations(
      migrations.map((migration) => (typeof migration === 'string' ? migration : migration.sql)),
    );
    this.#compatibleFrom = migrations.map((migration, index) =>
      typeof migration === 'string' ? index + 1 : migration.compatibleFrom,
    );
    this.purgedTables = purgedTables;
  }

  get version(): number {
    return this.migrations.version;
  }

  /**
   * Applies pending migrations, each in its own transaction. Processes that start at the same time do it one after the
   * other. A database that is up to date, or newer and compatible, is only read, so the role of the service need not own
   * it. Errors: `conflict` when the server cannot be used, or the tables are those of another version that is not
   * compatible; with `mustExist`, `not_found` when there are none.
   */
  async migrate(
    client: PgClient,
    schema: string,
    { mustExist = false }: { mustExist?: boolean } = {},
  ): Promise<void> {
    await assertUsable(client);
    const pending = await this.#pending(client, schema);
    if (pending === 0) return;
    if (mustExist && pending === this.version)
      throw new ScenepressError(
        'not_found',
        `The schema ${schema} of the database contains no installation.`,
      );
    const lock = [`${schema} migrations`];
    await client.query({ text: `SELECT pg_advisory_lock(${lockOf('$1')})`, values: lock });
    try {
      await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await client.query(MIGRATIONS);
      const left = await this.#pending(client, schema);
      for (let version = this.version - left + 1; version <= this.version; version += 1)
        await this.#apply(client, version);
    } finally {
      await client
        .query({ text: `SELECT pg_advisory_unlock(${lockOf('$1')})`, values: lock })
        .catch(() => {});
    }
  }

  async #apply(client: PgClient, version: number): Promise<void> {
    const sql = this.migrations.texts[version - 1] as string;
    await client.query('BEGIN');
    try {
      await client.query(sql);
      await client.query({
        text: 'INSERT INTO migrations (version, compatible_from, checksum) VALUES ($1, $2, $3)',
        values: [version, this.#compatibleFrom[version - 1], this.migrations.checksumOf(version)],
      });
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  /** The number of migrations to apply. */
  async #pending(client: PgClient, schema: string): Promise<number> {
    const exists = await client.query({
      text: 'SELECT to_regclass($1) AS found',
      values: [`${schema}.migrations`],
    });
    if ((exists.rows[0] as { found: string | null }).found === null) return this.version;
    const applied = (await client.query(APPLIED)).rows as Applied[];
    const other = applied.findLast(({ version, compatibleFrom, checksum }) =>
      version > this.version
        ? compatibleFrom > this.version
        : checksum !== this.migrations.checksumOf(version),
    );
    if (other) throw this.migrations.otherVersion(other);
    return Math.max(0, this.version - (applied.at(-1)?.version ?? 0));
  }
}

async function assertUsable(client: PgClient): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name,
       current_setting('server_encoding') AS encoding`,
  );
  const { version, name, encoding } = rows[0] as { version: number; name: string; encoding: string };
  if (version < OLDEST_SERVER)
    throw new ScenepressError(
      'conflict',
      `Postgres ${name} is too old: Scenepress needs version 13 or newer.`,
    );
  if (encoding !== 'UTF8')
    throw new ScenepressError('conflict', `The database has the encoding ${encoding}. Create one with UTF8.`);
}
