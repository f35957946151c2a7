// Records each migration of the schemas of SQLite and Postgres that has no record yet, in test/checks/schemas/. A test fails
// when a recorded one changes: databases with its number exist.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { POSTGRES_SCHEMA } from '../lib/sql/postgres/schema.ts';
import { SQLITE_SCHEMA } from '../lib/sql/sqlite/schema.ts';

export const RECORDS: string = join(import.meta.dirname, '../test/checks/schemas');

/** The texts of all migrations by the names of their records. */
export const MIGRATIONS: Map<string, string> = new Map(
  Object.entries({ sqlite: SQLITE_SCHEMA, postgres: POSTGRES_SCHEMA }).flatMap(([name, { migrations }]) =>
    migrations.texts.map((text, index) => [`${name}-${index + 1}.sql`, text] as const),
  ),
);

if (import.meta.main) {
  mkdirSync(RECORDS, { recursive: true });
  for (const [name, text] of MIGRATIONS) {
    try {
      writeFileSync(join(RECORDS, name), text, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
