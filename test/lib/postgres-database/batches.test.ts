import pg from 'pg';
import t, { type Test } from 'tap';
import { Batches } from '../../../lib/postgres-database/batches.ts';
import type { PgClient, PgConnection } from '../../../lib/postgres-database/driver.ts';
import { serverUrl } from '../../fixtures/postgres/database.ts';

type Sent = 'parse' | 'bind' | 'describe' | 'execute' | 'close' | 'sync';

/** A connection, and the messages that it sends. */
async function connected(t: Test, options: object = {}) {
  const client = new pg.Client({ connectionString: await serverUrl(), ...options });
  client.on('error', () => {});
  await client.connect();
  t.teardown(() => client.end());
  const { connection } = client as unknown as { connection: PgConnection };
  const sent: Sent[] = [];
  for (const name of ['parse', 'bind', 'describe', 'execute', 'close', 'sync'] as const) {
    const send = connection[name].bind(connection) as (message?: unknown) => void;
    connection[name] = (message?: unknown) => {
      sent.push(name);
      send(message);
    };
  }
  const taken = () => sent.splice(0);
  return { client: client as unknown as PgClient, taken };
}

const ONE = { text: 'SELECT 1::int AS one', name: 'one' };
const TWO = { text: 'SELECT $1::int * 2 AS two', name: 'two' };
const FAILING = { text: 'SELECT 1 / $1::int', name: 'failing', values: [0] };
const codes = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) => (result.status === 'rejected' ? (result.reason as { code: string }).code : 'done'));

t.test('statements that are called together are one batch', async (t) => {
  const { client, taken } = await connected(t);
  const batches = new Batches(client);
  const first = batches.run(ONE);
  const second = batches.run({ ...TWO, values: [4] }).then(({ rows }) => rows);
  t.same(await Promise.all([first.then(({ rows }) => rows), second]), [[{ one: 1 }], [{ two: 8 }]]);
  const eachOnce: Sent[] = ['parse', 'bind', 'describe', 'execute'];
  t.same(taken(), [...eachOnce, ...eachOnce, 'sync']);
  const again = await Promise.all([1, 2].map((value) => batches.run({ ...TWO, values: [value] })));
  t.same(
    again.map(({ rows }) => rows),
    [[{ two: 2 }], [{ two: 4 }]],
  );
  t.same(taken(), ['bind', 'execute', 'bind', 'execute', 'sync'], 'it is prepared, and its rows are known');
});

t.test('statements that are called while a batch runs are the next one', async (t) => {
  const { client, taken } = await connected(t);
  const batches = new Batches(client);
  const first = batches.run({ text: 'SELECT pg_sleep(0.05)' });
  await new Promise(setImmediate);
  const others = [batches.run(ONE), batches.run(ONE)];
  await Promise.all([first, ...others]);
  t.same(
    taken().filter((message) => message === 'sync'),
    ['sync', 'sync'],
  );
});

t.test('rows have values of each type', async (t) => {
  const { client } = await connected(t);
  const batches = new Batches(client);
  const text = 'SELECT $1::text AS text, $2::bigint + 1 AS big, $3::bytea AS bytes, $4::text AS nothing';
  const values = ['ü\n', 2, new Uint8Array([7, 255]).subarray(1), null];
  const { rows, rowCount } = await batches.run({ text, values });
  t.same(rows, [{ text: 'ü\n', big: '3', bytes: Buffer.from([255]), nothing: null }]);
  t.equal(rowCount, 1);
  await batches.run({ text: 'CREATE TEMP TABLE numbers (number int)' });
  const inserted = await batches.run({ text: 'INSERT INTO numbers SELECT generate_series(1, 12)' });
  t.same(inserted, { rows: [], rowCount: 12 });
});

t.test('after a statement that failed, no other is run', async (t) => {
  const { client, taken } = await connected(t);
  await client.query('CREATE TEMP SEQUENCE numbers');
  const next = { text: "SELECT nextval('numbers')" };
  const batches = new Batches(client);
  const statements = [batches.run(next), batches.run(FAILING), batches.run(next), batches.run({ ...ONE })];
  const failure = statements[1]?.catch((error: unknown) => error);
  t.same(codes(await Promise.allSettled(statements)), ['done', '22012', '22012', '22012']);
  taken();
  t.equal(await batches.run(next).catch((error: unknown) => error), await failure);
  t.same(taken(), []);
  const { rows } = await client.query("SELECT nextval('numbers')::int AS number");
  t.same(rows, [{ number: 2 }]);
});

t.test('a statement whose first batch failed can be run again', async (t) => {
  const { client, taken } = await connected(t);
  const failing = new Batches(client);
  // The server knows the first two of them, and has skipped the third.
  const statements = [failing.run(ONE), failing.run(FAILING), failing.run({ ...TWO, values: [1] })];
  await Promise.allSettled(statements);
  taken();
  const batches = new Batches(client);
  const again = [ONE, { ...FAILING, values: [1] }, { ...TWO, values: [3] }].map((query) =>
    batches.run(query),
  );
  t.same(codes(await Promise.allSettled(again)), ['done', 'done', 'done']);
  const sent = taken();
  t.equal(sent.filter((message) => message === 'close').length, 2);
  t.equal(sent.filter((message) => message === 'parse').length, 2);
});

t.test('a lost connection fails all statements of the batch', async (t) => {
  const { client } = await connected(t);
  const batches = new Batches(client);
  const lost = [batches.run({ text: 'SELECT pg_terminate_backend(pg_backend_pid())' }), batches.run(ONE)];
  t.same(codes(await Promise.allSettled(lost)), ['57P01', '57P01']);
  const [later] = await Promise.allSettled([new Batches(client).run(ONE)]);
  t.match(later, { status: 'rejected', reason: { message: /not queryable|terminated/ } });
});

t.test('a batch that takes too long fails', async (t) => {
  const { client } = await connected(t, { query_timeout: 50 });
  const late = new Batches(client).run({ text: 'SELECT pg_sleep(0.2)' });
  await t.rejects(late, { message: 'Query read timeout' });
});
