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

/** The tables of a database, as migrations make them. Its `user_version` is the number of those it has had. */
export class Schema {
  readonly #migrations: string[];
  readonly version: number;

  /** `migrations`: oldest first. What was released never changes. */
  constructor(migrations: string[]) {
    this.#migrations = migrations;
    this.version = migrations.length;
  }

  /** Brings a database up to date, in one transaction. Error: `storage_damaged` when its schema is another. */
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

  /** What {@link migrate} makes. */
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

  /** SQLite keeps the schema as text: with one bit flipped, a constraint may allow what it should refuse. */
  #assertAsMade(connection: Connection, version: number): void {
    if (textOf(schemaOf(connection)) === textOf(this.#rowsAfter(version))) return;
    throw damaged(connection.path, 'its schema is not as it was made');
  }

  #rowsAfter(version: number): SchemaRow[] {
    const model = new Connection(':memory:');
    for (const migration of this.#migrations.slice(0, version)) model.exec(migration);
    const rows = schemaOf(model);
    model.close();
    return rows;
  }
}

/** Without what SQLite keeps for itself, as statistics. */
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
