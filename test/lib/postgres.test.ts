import t, { type Test } from 'tap';
import type { PostgresStorage } from '../../lib/postgres/index.ts';
import { signalsSuite, sqlDatabaseSuite } from '../../lib/testing/index.ts';
import { empty, openPostgres } from '../fixtures/postgres/database.ts';
import { testSqlStores } from '../fixtures/stores/sql-stores.ts';

function inSchema<T>(t: Test, subjectOf: (storage: PostgresStorage) => T) {
  let schema: string | undefined;
  return async () => {
    if (schema !== undefined) await empty(schema);
    const storage = await openPostgres(t, schema === undefined ? {} : { schema });
    schema = storage.schema;
    return { subject: subjectOf(storage), close: () => storage.stop() };
  };
}

t.test('Postgres as an SQL database', async (t) => {
  const open = inSchema(t, ({ database }) => database);
  for (const { title, run } of sqlDatabaseSuite(open)) await t.test(title, run);
  await testSqlStores(t, open);
});

t.test('signals in Postgres', async (t) => {
  for (const { title, run } of signalsSuite(inSchema(t, ({ signals }) => signals))) await t.test(title, run);
});
