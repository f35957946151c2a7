// Statements are sent without waiting for the answers of those before.
import pg from 'pg';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../../lib/base/random.ts';
import { PostgresSchema } from '../../../../lib/databases/postgres/migrated-schema.ts';
import { PostgresDatabase } from '../../../../lib/databases/postgres/postgres-database.ts';
import { POSTGRES_SCHEMA } from '../../../../lib/sql/postgres/schema.ts';
import { systemClock } from '../../../../lib/time/clock.ts';
import { newSchema, serverUrl } from '../../../fixtures/postgres/database.ts';

const NOTES = 'CREATE TABLE notes (note_id bigint PRIMARY KEY)';
const INSERT = 'INSERT INTO notes VALUES (?)';
const COUNT = 'SELECT count(*) AS count FROM notes';

async function open(t: Test): Promise<PostgresDatabase> {
  const tables = `${POSTGRES_SCHEMA.migrations.texts[0]};${NOTES}`;
  const database = new PostgresDatabase(
    await serverUrl(),
    new PostgresSchema({ migrations: [tables], purgedTables: [] }),
    { schema: newSchema(), clock: systemClock, random: systemRandom, maxConnections: 2 },
  );
  await database.start();
  t.teardown(() => database.stop());
  return database;
}

const codesOf = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) => (result.status === 'rejected' ? (result.reason as { code: string }).code : 'done'));

t.test(
  'after a statement that failed, all others fail with its error, and nothing is committed',
  async (t) => {
    const database = await open(t);
    let codes: string[] = [];
    const failing = database.transaction(async (tx) => {
      const statements = [
        tx.run(INSERT, 1),
        tx.all('SELECT 1 / ?::int', 0),
        tx.run(INSERT, 2),
        tx.all(COUNT),
      ];
      codes = codesOf(await Promise.allSettled(statements));
    });
    await t.rejects(failing, { code: '22012' });
    t.same(codes, ['done', '22012', '22012', '22012']);
    t.same({ ...(await database.get(COUNT)) }, { count: 0 });
    await database.transaction((tx) => tx.run(INSERT, 3));
    t.same(
      { ...(await database.get(COUNT)) },
      { count: 1 },
      'the connection and its statements can be used again',
    );
  },
);

t.test('a statement that fails beside the commit is not committed', async (t) => {
  const database = await open(t);
  const failing = database.transaction(async (tx) => {
    tx.write(INSERT, 1);
    tx.write('UPDATE notes SET note_id = note_id / ?::int', 0);
    tx.write(INSERT, 2);
  });
  await t.rejects(failing, { code: '22012' });
  t.same({ ...(await database.get(COUNT)) }, { count: 0 });
});

t.test('nothing is written by a transaction whose BEGIN failed', async (t) => {
  const database = await open(t);
  const { query } = pg.Client.prototype;
  const inserted: unknown[] = [];
  let refused = 0;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const { text = '' } = args[0] as { text?: string };
    if (text.startsWith('INSERT INTO notes')) inserted.push(args[0]);
    if (text.startsWith('BEGIN') && ++refused === 1)
      return Promise.reject(
        Object.assign(new Error('cannot set transaction read-write mode'), { code: '25006' }),
      );
    return Reflect.apply(query, this, args);
  } as typeof query;
  t.teardown(() => {
    pg.Client.prototype.query = query;
  });
  await database.transaction(async (tx) => tx.write(INSERT, 1));
  t.equal(refused, 2);
  t.equal(inserted.length, 1, 'only in the transaction that has begun');
  t.same({ ...(await database.get(COUNT)) }, { count: 1 });
});

t.test('rows have values of each type', async (t) => {
  const database = await open(t);
  const row = await database.get(
    'SELECT ?::text AS text, ?::bigint + 1 AS big, ?::bytea AS bytes, ?::text AS nothing',
    'ü\n',
    2,
    new Uint8Array([7, 255]).subarray(1),
    null,
  );
  t.same({ ...row }, { text: 'ü\n', big: 3, bytes: Buffer.from([255]), nothing: null });
});
