import type { ScenepressError } from '../../base/errors.ts';
import { Migrations, type SchemaMark } from '../migrations.ts';
import { Connection, damaged } from './connection.ts';

/** A table, index or trigger. */
export interface SchemaRow {
  rowid: number;
  type: string;
  name: string;
  tbl_name: string;
  sql: string;
}

/**
 * The schema of a database, built by migrations. The header of the file has the number of those applied (`user_version`)
 * and their checksum (`application_id`).
 */
export class Schema {
  readonly migrations: Migrations;

  constructor(texts: readonly string[]) {
    this.migrations = new Migrations(texts);
  }

  get version(): number {
    return this.migrations.version;
  }

  /**
   * Applies pending migrations in one transaction. Errors: `conflict` when another version made the schema,
   * `storage_damaged` when it is one of these, but damaged.
   */
  migrate(connection: Connection): void {
    const version = this.numberIn(connection);
    if (version === undefined) throw this.otherVersion(connection);
    const mark = markIn(connection);
    // SQLite stores the schema as text: a flipped bit could disable a constraint.
    if (mark.version !== version || !this.hasRowsOf(version, connection))
      throw damaged(connection.path, 'its schema was changed');
    // A damaged checksum is replaced.
    if (version === this.version && mark.checksum === this.migrations.checksumOf(version)) return;
    connection.exec('BEGIN IMMEDIATE');
    for (const migration of this.migrations.texts.slice(version)) connection.exec(migration);
    this.writeMark(connection, this.version);
    connection.exec('COMMIT');
  }

  /**
   * The number of the schema in a database, which agrees with two of the stored number, checksum and rows: the third is
   * damaged, or everything is as it was made. Undefined for a schema of another version.
   */
  numberIn(connection: Connection): number | undefined {
    const mark = markIn(connection);
    for (let number = this.version; number >= 0; number--) {
      const isMarked = [mark.version === number, mark.checksum === this.migrations.checksumOf(number)];
      const agreeing = isMarked.filter(Boolean).length;
      if (agreeing === 2 || (agreeing === 1 && this.hasRowsOf(number, connection))) return number;
    }
    return undefined;
  }

  /** Whether the stored rows are those after that many migrations. */
  hasRowsOf(version: number, connection: Connection): boolean {
    return textOf(schemaOf(connection)) === textOf(this.rowsOf(version));
  }

  /** The rows after that many migrations. */
  rowsOf(version: number): SchemaRow[] {
    const model = Connection.open(':memory:');
    for (const migration of this.migrations.texts.slice(0, version)) model.exec(migration);
    const rows = schemaOf(model);
    model.close();
    return rows;
  }

  writeMark(connection: Connection, version: number): void {
    const checksum = this.migrations.checksumOf(version);
    connection.exec(`PRAGMA user_version = ${version}; PRAGMA application_id = ${checksum}`);
  }

  otherVersion(connection: Connection, options?: { cause: unknown }): ScenepressError {
    return this.migrations.otherVersion(markIn(connection), options);
  }
}

/** What the header of the file says. */
export function markIn(connection: Connection): SchemaMark {
  const version = connection.get<{ user_version: number }>('PRAGMA user_version', [])?.user_version ?? 0;
  const row = connection.get<{ application_id: number }>('PRAGMA application_id', []);
  return { version, checksum: row?.application_id ?? 0 };
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
