import pg from 'pg';
import t from 'tap';
import { type PostgresOptions, postgres } from '../../../../lib/postgres/index.ts';
import type { SqlTransaction } from '../../../../lib/storage/sql.ts';
import { TestAuthority } from '../../../fixtures/certificates.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';
import { PostgresServer } from '../../../fixtures/postgres/server.ts';
import { SwitchingProxy } from '../../../fixtures/postgres/switching-proxy.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';
import { until } from '../../../fixtures/until.ts';

const authority = new TestAuthority(testFolder(t));
const server = await PostgresServer.start({ tls: authority.issue(['localhost']) });
t.teardown(() => server.remove());

const open = async (options: PostgresOptions = {}, url = server.url) => {
  const storage = postgres(url, options);
  await storage.start();
  t.teardown(() => storage.stop());
  return storage;
};

t.test('work waits while the server restarts', async (t) => {
  const storage = await open({ retryForMs: 20_000 });
  const insert = (id: string) => storage.transaction((tx) => storage.insertJob(tx, jobRecord(id), 'x'));
  await insert('1');
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    await server.stop(signal);
    const [inserting, reading] = [insert(signal), storage.getJob('1')];
    await server.start();
    await inserting;
    t.equal((await reading)?.jobId, '1');
    t.equal((await storage.getJob(signal))?.jobId, signal);
  }
});

t.test('a server that stays away is reported, and used again when it is back', async (t) => {
  const storage = await open({ retryForMs: 100 });
  await server.stop();
  const failed = { code: 'storage_failed', message: /^Nothing was changed/ };
  await t.rejects(storage.getJob('1'), failed);
  await t.rejects(
    storage.transaction((tx) => storage.getJob('1', tx)),
    failed,
  );
  await t.rejects(
    storage.alone('task', async () => t.fail('not alone')),
    failed,
  );
  await server.start();
  t.equal(await storage.alone('task', async () => 'done'), 'done');
  t.equal((await storage.getJob('1'))?.jobId, '1');
});

t.test('a stop does not wait for a server that does not answer', async (t) => {
  const storage = await open({ connectTimeoutMs: 1_000, applicationName: 'frozen' });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  t.teardown(() => client.end());
  const frozen = async () => {
    const { rows } = await client.query(
      "SELECT pid, query LIKE 'LISTEN%' AS listens FROM pg_stat_activity WHERE application_name = 'frozen'",
    );
    return rows as { pid: number; listens: boolean }[];
  };
  await until(async () => (await frozen()).some(({ listens }) => listens));
  await storage.transaction((tx) => storage.insertJob(tx, jobRecord('frozen'), 'x'));
  const processes = await frozen();
  t.ok(processes.length >= 2, 'one that listens, and one that is idle in the pool');
  for (const { pid } of processes) process.kill(pid, 'SIGSTOP');
  await storage.stop();
  for (const { pid } of processes) process.kill(pid, 'SIGCONT');
  await until(async () => (await frozen()).length === 0);
});

t.test('a stop ends what waits for a server that does not answer', async (t) => {
  const proxy = await SwitchingProxy.open(Number(new URL(server.url).port));
  t.teardown(() => proxy.close());
  const url = new URL(server.url);
  url.port = String(proxy.port);
  const storage = await open({ connectTimeoutMs: 500, retryForMs: 500 }, url.href);
  await storage.getJob('1');
  const { promise: stalled, resolve } = Promise.withResolvers<void>();
  const committing = storage.transaction(async (tx) => {
    await storage.insertJob(tx, jobRecord('committing'), 'x');
    proxy.stall();
    resolve();
  });
  const unknown = t.rejects(committing, { code: 'storage_failed', message: /it is unknown whether/ });
  await stalled;
  const closed = t.rejects(storage.getJob('1'), { code: 'not_running' });
  const begunMs = performance.now();
  await storage.stop();
  t.ok(performance.now() - begunMs < 20_000, 'sooner than a statement ends');
  await Promise.all([unknown, closed]);
});

t.test('TLS verifies the server', async (t) => {
  const { ca } = authority;
  const named = server.url.replace('127.0.0.1', 'localhost');
  for (const url of [named, `${named}?sslmode=disable&uselibpqcompat=true`]) {
    const storage = await open({ tls: { ca } }, url);
    const tls = await storage.transaction((tx) =>
      (tx as SqlTransaction).get('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'),
    );
    t.same(tls, { ssl: true }, url);
  }
  const refused = { code: 'storage_failed', message: /not secure/ };
  await t.rejects(open({ tls: true }, named), refused, 'an unknown authority');
  await t.rejects(open({ tls: { ca } }), refused, 'another name');
});

t.test('a commit that the synchronous replica does not have is not reported as one', async (t) => {
  const storage = await open({ retryForMs: 200, connectTimeoutMs: 500 });
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  t.teardown(() => admin.end());
  const waitFor = async (replica: string) => {
    await admin.query(`ALTER SYSTEM SET synchronous_standby_names TO '${replica}'`);
    await admin.query('SELECT pg_reload_conf()');
    for (;;) {
      const { rows } = await admin.query('SHOW synchronous_standby_names');
      if ((rows[0] as { synchronous_standby_names: string }).synchronous_standby_names === replica) return;
    }
  };
  await waitFor('none');
  const inserting = storage.transaction((tx) => storage.insertJob(tx, jobRecord('waits'), 'x'));
  const isEnded = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  while ((await admin.query(isEnded)).rowCount === 0);
  await t.rejects(inserting, { code: 'storage_failed', message: /it is unknown whether/ });
  await waitFor('');
});
