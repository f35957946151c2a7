import t from 'tap';
import type { SqlTransaction } from '../../../../lib/storage/sql.ts';
import { openPostgres, run } from '../../../fixtures/postgres/database.ts';

const COUNT = 200;

t.test('keys of all processes and transactions differ, and are those of the rows', async (t) => {
  const one = await openPostgres(t);
  const other = await openPostgres(t, { schema: one.schema });
  const insert = (tx: SqlTransaction, i: number) =>
    tx.insert('text_keys', 'text_key_id', { content: new Uint8Array(32).fill(i % 256) });
  const numbers = Array.from({ length: COUNT }, (_, i) => i);
  const together = one.database.transaction((tx) => Promise.all(numbers.map((i) => insert(tx, i))));
  const alone = [one, other].flatMap(({ database }) =>
    numbers.map((i) => database.transaction((tx) => insert(tx, i))),
  );
  const failed = one.database.transaction(async (tx) => {
    await insert(tx, 0);
    throw new Error('no');
  });
  await t.rejects(failed, { message: 'no' });
  const keys = [...(await together), ...(await Promise.all(alone))];
  t.equal(new Set(keys).size, 3 * COUNT);
  const rows = await run<{ key: number; byte: number }>(
    'SELECT text_key_id::int AS key, get_byte(content, 0) AS byte FROM text_keys',
    one,
  );
  const bytes = new Map(rows.map(({ key, byte }) => [key, byte]));
  t.same(
    keys.map((key) => bytes.get(key)),
    keys.map((_, i) => (i % COUNT) % 256),
  );
});

t.test('a block that the server gives again after a crash is replaced', async (t) => {
  const { database, schema } = await openPostgres(t);
  const add = () =>
    database.transaction((tx) => tx.insert('text_keys', 'text_key_id', { content: new Uint8Array(32) }));
  const first = await add();
  // As another process, to which the server gave the same block.
  await run(
    `INSERT INTO text_keys (text_key_id, content) SELECT ${first} + n, decode(repeat('00', 32), 'hex')
    FROM generate_series(1, 63) AS n`,
    { schema },
  );
  t.ok((await add()) > first + 63);
});
