import { ScenepressError } from '../../errors.ts';
import { Connection, damaged } from './connection.ts';

/** A table, index or trigger. */
export interface SchemaRow {
  rowid: number;
  type: string;
  name: string;
  tbl_name: string;
  sql: string;
}

/** The schema of a database, built by migrations. `user_version` is the number of applied migrations. */
export class Schema {
  readonly #migrations: string[];
  readonly version: number;

  /** `migrations`: oldest first. Released migrations must never change. */
  constructor(migrations: string[]) {
    this.#migrations = migrations;
    this.version = migrations.length;
  }

  /** Applies pending migrations in one transaction. Error: `storage_damaged` when the schema is not as expected. */
  migrate(connection: Connection): void {
    const { user_version: version = 0 } =
      connection.get<{ user_version: number }>('PRAGMA user_version', []) ?? {};
    if (version > this.version) throw this.newer(version);
    this.#assertAsMade(connection, version);
    if (version === this.version) return;
    connection.exec('BEGIN IMMEDIATE');
    for (const migration of this.#migrations.slice(version)) connection.exec(migration);
    connection.exec(`PRAGMA user_version = ${this.version}; COMMIT`);
  }

  /** The schema after all migrations. */
  get rows(): SchemaRow[] {
    return this.#rowsAfter(this.version);
  }

  newer(version: number): ScenepressError {
    return new ScenepressError(
      'storage_damaged',
      `The data was written by a newer version of Scenepress (schema ${version}; this one knows ${this.version}). ` +
        'Use that version, or restore a backup that this one made.',
    );
  }

  /** SQLite stores the schema as text: a flipped bit could disable a constraint. */
  #assertAsMade(connection: Connection, version: number): void {
    if (textOf(schemaOf(connection)) === textOf(this.#rowsAfter(version))) return;
    throw damaged(connection.path, 'its schema was changed');
  }

  #rowsAfter(version: number): SchemaRow[] {
    const model = Connection.open(':memory:');
    for (const migration of this.#migrations.slice(0, version)) model.exec(migration);
    const rows = schemaOf(model);
    model.close();
    return rows;
  }
}

/** Excludes SQLite's internal tables, such as statistics. */
export function schemaOf(connection: Connection): SchemaRow[] {
  const rows = connection.all<SchemaRow>(
    'SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema ORDER BY name',
    [],
  );
  return rows.filter(({ name }) => !String(name).startsWith('sqlite_'));
}

function textOf(rows: SchemaRow[]): string {
  return JSON.stringify(rows.map(({ type, name, tbl_name, sql }) => [type, name, tbl_name, sql]));
}
