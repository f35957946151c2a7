import { ScenepressError } from '../../errors.ts';
import { DUE_SCHEMA } from '../../sql/sqlite/due-schema.ts';
import { FIRST_SCHEMA } from '../../sql/sqlite/main-schema.ts';
import { QUEUE_SCHEMA } from '../../sql/sqlite/queue-schema.ts';
import { Connection, damaged } from './connection.ts';

/** The steps of the schema, oldest first. What was released never changes. */
const MIGRATIONS = [FIRST_SCHEMA + QUEUE_SCHEMA + DUE_SCHEMA];
export const LATEST_VERSION: number = MIGRATIONS.length;

/** Brings the schema of a database up to date, in one transaction. Error: `storage_damaged` when it is another. */
export function migrate(connection: Connection): void {
  const { user_version: version = 0 } =
    connection.get<{ user_version: number }>('PRAGMA user_version', []) ?? {};
  if (version > LATEST_VERSION) throw newer(version);
  assertAsMade(connection, version);
  if (version === LATEST_VERSION) return;
  connection.exec('BEGIN IMMEDIATE');
  for (const step of MIGRATIONS.slice(version)) connection.exec(step);
  connection.exec(`PRAGMA user_version = ${LATEST_VERSION}; COMMIT`);
}

/** SQLite keeps the schema as text: with one bit flipped, a constraint may allow what it should refuse. */
function assertAsMade(connection: Connection, version: number): void {
  if (textOf(schemaOf(connection)) === textOf(schemaAfter(version))) return;
  throw damaged(connection.path, 'its schema is not as it was made');
}

export function newer(version: number): ScenepressError {
  return new ScenepressError(
    'storage_damaged',
    `The data was written by a newer version of Scenepress (schema ${version}; this one knows ${LATEST_VERSION}). ` +
      'Use that version, or restore a backup that this one made.',
  );
}

/** A table, index or trigger. */
export interface SchemaRow {
  rowid: number;
  type: string;
  name: string;
  tbl_name: string;
  sql: string;
}

/** What {@link migrate} makes. */
export function latestSchema(): SchemaRow[] {
  return schemaAfter(LATEST_VERSION);
}

function schemaAfter(version: number): SchemaRow[] {
  const model = new Connection(':memory:');
  for (const step of MIGRATIONS.slice(0, version)) model.exec(step);
  const rows = schemaOf(model);
  model.close();
  return rows;
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
