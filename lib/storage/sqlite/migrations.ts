import { ScenepressError } from '../../errors.ts';
import type { Connection } from './connection.ts';
import { FIRST_SCHEMA } from './schema-1.ts';

/** The steps of the schema, oldest first. What was released never changes. */
const MIGRATIONS = [FIRST_SCHEMA];

/** Brings the schema of a database up to date, in one transaction. */
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
  if (version === MIGRATIONS.length) return;
  connection.exec('BEGIN IMMEDIATE');
  for (const step of MIGRATIONS.slice(version)) connection.exec(step);
  connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
}
