import { ScenepressError } from '../../errors.ts';
import { Connection, damaged } from './connection.ts';
import { QUEUE_SCHEMA } from './queue-schema.ts';
import { FIRST_SCHEMA } from './schema-1.ts';

/** The steps of the schema, oldest first. What was released never changes. */
const MIGRATIONS = [FIRST_SCHEMA + QUEUE_SCHEMA];

/** Brings the schema of a database up to date, in one transaction. Error: `storage_damaged` when it is another. */
export function migrate(connection: Connection): void {
  const { user_version: version = 0 } =
    connection.get<{ user_version: number }>('PRAGMA user_version', []) ?? {};
  if (version > MIGRATIONS.length) {
    throw new ScenepressError(
      'storage_damaged',
      `The data was written by a newer version of Scenepress (schema ${version}; this one knows ${MIGRATIONS.length}). ` +
        'Use that version, or restore a backup that this one made.',
    );
  }
  assertAsMade(connection, version);
  if (version === MIGRATIONS.length) return;
  connection.exec('BEGIN IMMEDIATE');
  for (const step of MIGRATIONS.slice(version)) connection.exec(step);
  connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
}

/** SQLite keeps the schema as text: with one bit flipped, a constraint may allow what it should refuse. */
function assertAsMade(connection: Connection, version: number): void {
  const model = new Connection(':memory:');
  for (const step of MIGRATIONS.slice(0, version)) model.exec(step);
  const expected = schemaOf(model);
  model.close();
  if (schemaOf(connection) === expected) return;
  throw damaged(connection.path, 'its schema is not as it was made');
}

/** Without what SQLite keeps for itself, as statistics. */
function schemaOf(connection: Connection): string {
  const rows = connection.all<{ name: string }>(
    'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name',
    [],
  );
  return JSON.stringify(rows.filter(({ name }) => !String(name).startsWith('sqlite_')));
}
