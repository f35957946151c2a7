import t, { type Test } from 'tap';
import { systemRandom } from '../../../../lib/base/random.ts';
import { CONFIRMATIONS } from '../../../../lib/databases/postgres/confirmations.ts';
import { type Migration, PostgresSchema } from '../../../../lib/databases/postgres/migrated-schema.ts';
import { PostgresDatabase } from '../../../../lib/databases/postgres/postgres-database.ts';
import { systemClock } from '../../../../lib/time/clock.ts';
import { newSchema, serverUrl } from '../../../fixtures/postgres/database.ts';

const NOTES =
  'CREATE TABLE notes (note_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text NOT NULL)';
const FIRST = [`${NOTES};${CONFIRMATIONS}`, 'CREATE INDEX notes_by_text ON notes (text)'];
const COMPATIBLE = { sql: "ALTER TABLE notes ADD COLUMN color text DEFAULT 'red'", compatibleFrom: 1 };
const INCOMPATIBLE = 'ALTER TABLE notes RENAME COLUMN text TO content';

/** A program with these migrations, which may start. */
async function programOf(t: Test, schema: string, migrations: Migration[]) {
  const version = new PostgresSchema({ migrations, purgedTables: [] });
  const database = new PostgresDatabase(await serverUrl(), version, {
    schema,
    clock: systemClock,
    random: systemRandom,
  });
  t.teardown(() => database.stop());
  return {
    start: () => database.start(),
    add: (text: string) => database.transaction((tx) => tx.run('INSERT INTO notes (text) VALUES (?)', text)),
    drop: () => database.transaction((tx) => tx.run('ALTER TABLE migrations DROP COLUMN checksum')),
    read: () => database.all<{ text: string }>('SELECT * FROM notes ORDER BY note_id'),
  };
}

t.test('a program keeps working while another migrates compatibly, and can start after it', async (t) => {
  const schema = newSchema();
  const old = await programOf(t, schema, FIRST);
  await old.start();
  // On each of its connections, so that all have prepared the statements.
  await Promise.all(Array.from({ length: 10 }, () => old.add('before')));
  await Promise.all(Array.from({ length: 10 }, () => old.read()));
  const young = await programOf(t, schema, [...FIRST, COMPATIBLE]);
  await young.start();
  await Promise.all(Array.from({ length: 10 }, () => old.add('after')));
  await young.add('young');
  t.match(await young.read(), [...Array(20).fill({ color: 'red' }), { text: 'young', color: 'red' }]);
  t.equal((await old.read()).length, 21);
  const restarted = await programOf(t, schema, FIRST);
  await restarted.start();
  await restarted.add('restarted');
  t.equal((await young.read()).at(-1)?.text, 'restarted');
});

t.test('a program refuses tables of a version that is not compatible with it', async (t) => {
  const schema = newSchema();
  await (await programOf(t, schema, FIRST)).start();
  await (
    await programOf(t, schema, [...FIRST, INCOMPATIBLE, { sql: 'SELECT 1', compatibleFrom: 3 }])
  ).start();
  for (const migrations of [FIRST, FIRST.slice(0, 1)]) {
    const old = await programOf(t, schema, migrations);
    await t.rejects(old.start(), {
      code: 'conflict',
      message: new RegExp(`another version .*\\(schema 4, .*; this version has schema ${migrations.length},`),
    });
  }
  const { start } = await programOf(t, schema, [...FIRST, INCOMPATIBLE]);
  await start();
});

t.test('a program refuses other tables with the same number', async (t) => {
  const schema = newSchema();
  await (await programOf(t, schema, FIRST)).start();
  const other = [FIRST[0] as string, 'CREATE INDEX notes_by_text ON notes (text DESC)'];
  for (const migrations of [other, [...other, COMPATIBLE]]) {
    const program = await programOf(t, schema, migrations);
    await t.rejects(program.start(), { code: 'conflict', message: /another version .*\(schema 2, checksum/ });
  }
  await (await programOf(t, schema, FIRST)).start();
});

t.test('a program refuses tables that were made without checksums', async (t) => {
  const schema = newSchema();
  const { start, drop } = await programOf(t, schema, FIRST);
  await start();
  await drop();
  const again = await programOf(t, schema, FIRST);
  await t.rejects(again.start(), {
    code: 'conflict',
    message: /another version .*\(schema 2, without a checksum/,
  });
});
