import pg from 'pg';
import t, { type Test } from 'tap';
import { type PostgresOptions, postgres } from '../../../../lib/postgres/index.ts';
import type { SqlTransaction } from '../../../../lib/storage/sql.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';
import { PostgresServer } from '../../../fixtures/postgres/server.ts';

// Of its own, without autovacuum: a purge waits for the transactions of others in the same database.
const server = await PostgresServer.start({ settings: { autovacuum: 'off' } });
t.teardown(() => server.remove());
/** How often a purge looks for older transactions. */
const LOOK_MS = 200;
let schemas = 0;

async function open(t: Test, options: PostgresOptions = {}) {
  const schema = `purged_${++schemas}`;
  const storage = postgres(server.url, { ...options, schema });
  await storage.start();
  t.teardown(() => storage.stop());
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  t.teardown(() => client.end());
  await client.query(`SET search_path TO ${schema}`);
  return {
    storage,
    sql: async <Row extends object>(text: string) => (await client.query(text)).rows as Row[],
    transaction: <T>(work: (tx: SqlTransaction) => Promise<T>) =>
      storage.transaction((tx) => work(tx as SqlTransaction)),
  };
}

/** Resolves when the purge waits for so long; rejects if it ends instead. */
async function waitsFor(
  ms: number,
  { clock, purging }: { clock: FakeClock; purging: Promise<unknown> | undefined },
) {
  let isOver = false;
  void purging?.finally(() => {
    isOver = true;
  });
  while (clock.nextInMs !== ms) {
    if (isOver) throw new Error(`the purge has ended (${await purging})`);
    await new Promise(setImmediate);
  }
}

t.test('a purge removes the keys of forgotten texts from the files', async (t) => {
  const { storage, sql } = await open(t);
  const job = jobRecord('1', { phase: 'completed' });
  await storage.transaction((tx) => storage.insertJob(tx, job, 'x'));
  const isInFile = async (key: string) => {
    await sql('CHECKPOINT');
    const file = "pg_read_binary_file(pg_relation_filepath('text_keys'))";
    const [found] = await sql<{ place: number }>(`SELECT position('\\x${key}'::bytea IN ${file}) AS place`);
    return found?.place !== 0;
  };
  const [stored] = await sql<{ key: string }>("SELECT encode(content, 'hex') AS key FROM text_keys");
  const key = stored?.key ?? '';
  await storage.transaction((tx) => storage.forgetJob(tx, { ...job, forgottenAtMs: 5 }));
  t.ok(await isInFile(key), 'as an old version of the row');
  await storage.purge();
  t.ok(await isInFile(key), 'not at once, because no transaction can use the tables meanwhile');
  await storage.purgeDue?.();
  t.notOk(await isInFile(key));
  const fileOf = () => sql("SELECT pg_relation_filepath('text_keys')");
  const file = await fileOf();
  await storage.purgeDue?.();
  t.same(await fileOf(), file, 'the table is rewritten once');
  t.equal((await storage.getJob('1'))?.forgottenAtMs, 5);
});

t.test('a purge does not let others wait long for tables that are in use', async (t) => {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const { storage, sql, transaction } = await open(t, { clock });
  await storage.purge();
  const { purging, ending, end } = await transaction(async (tx) => {
    await tx.all('SELECT 1'); // With its first statement it begins.
    const purging = storage.purgeDue?.().catch((error: unknown) => error);
    await waitsFor(LOOK_MS, { clock, purging });
    const [{ promise: ended, resolve: end }, began] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ];
    const ending = transaction(async (tx) => {
      await tx.all('SELECT 1 FROM accounts');
      began.resolve();
      await ended;
    });
    await began.promise;
    return { purging, ending, end };
  });
  clock.advance(LOOK_MS);
  for (let tries = 1; tries < 5; tries++) {
    await waitsFor(5_000, { clock, purging });
    clock.advance(5_000);
  }
  t.match(await purging, { code: 'storage_failed', message: /lock timeout/ });
  end();
  await ending;
  const requests = () => sql('SELECT requests::int FROM purges');
  t.same(await requests(), [{ requests: 1 }], 'it is repeated later');
  await storage.purgeDue?.();
  t.same(await requests(), []);
});

t.test('a purge is repeated while a transaction that began before may see what it removes', async (t) => {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const { storage, sql, transaction } = await open(t, { clock });
  await storage.purge();
  const purged = await transaction(async (tx) => {
    await tx.all('SELECT 1');
    const purging = storage.purgeDue?.().catch((error: unknown) => error);
    await waitsFor(LOOK_MS, { clock, purging });
    clock.advance(10_000);
    return purging;
  });
  t.match(purged, { code: 'storage_failed', message: /began before have not ended \(.*: \d+/ });
  const requests = () => sql('SELECT requests::int FROM purges');
  t.same(await requests(), [{ requests: 1 }]);
  await storage.purgeDue?.();
  t.same(await requests(), []);
});
