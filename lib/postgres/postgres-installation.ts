import type { InstallationRecord, InstallationRecords } from '../storage/installation-records.ts';
import type { SqlDatabase, SqlReader } from '../storage/sql.ts';

/**
 * A replica that takes over has the identifier of its primary, and the same number for the database. A restored dump has
 * another number, or is on a server with another identifier.
 */
const HERE = `SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()), oid, current_schema()) AS place
  FROM pg_database WHERE datname = current_database()`;
const READ = 'SELECT installation_id AS "installationId", place, stamp FROM installation';
const WRITE = `INSERT INTO installation VALUES (1, ?, ?, ?) ON CONFLICT (row_id) DO UPDATE
  SET installation_id = excluded.installation_id, place = excluded.place, stamp = excluded.stamp`;

/** The record of an installation whose data is in Postgres. */
export class PostgresInstallation implements InstallationRecords {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async here(): Promise<string> {
    return (await this.#database.get<{ place: string }>(HERE))?.place ?? '';
  }

  read(): Promise<InstallationRecord | undefined> {
    return read(this.#database);
  }

  change(
    change: (before: InstallationRecord | undefined) => InstallationRecord,
  ): Promise<InstallationRecord> {
    return this.#database.transaction(async (tx) => {
      await tx.lock('installation');
      const record = change(await read(tx));
      await tx.run(WRITE, record.installationId, record.place, record.stamp);
      return record;
    });
  }
}

function read(reader: SqlReader): Promise<InstallationRecord | undefined> {
  return reader.get<InstallationRecord>(READ);
}
