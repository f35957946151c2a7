import t from 'tap';
import type { MachineInfo } from '../../appliance/admin/service-views.ts';
import { newSchema, run, serverUrl } from '../fixtures/postgres/database.ts';
import { SwitchingProxy } from '../fixtures/postgres/switching-proxy.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { cluster, newKey, until } from './machines.ts';

const TOKEN = 'the-token-of-the-metrics';
/** Nothing listens there. */
const NO_BUCKET = {
  SCENEPRESS_S3_BUCKET: 'renders',
  SCENEPRESS_S3_ENDPOINT: 'http://127.0.0.1:1',
  SCENEPRESS_S3_ACCESS_KEY_ID: 'tests',
  SCENEPRESS_S3_SECRET_ACCESS_KEY: 'secret',
};

t.test('while the database is away, a server is not ready, and its other metrics are exported', async (t) => {
  const url = new URL(await serverUrl());
  const proxy = await SwitchingProxy.open(Number(url.port));
  t.teardown(() => proxy.close());
  url.port = String(proxy.port);
  const machines = await cluster(t, {
    SCENEPRESS_DATABASE_URL: url.href,
    SCENEPRESS_METRICS_TOKEN: TOKEN,
  });
  const server = await machines.start('serve');
  const isReady = async () => (await server.get('/health/ready')).status === 200;
  const metrics = async () => (await server.get('/metrics', { authorization: `Bearer ${TOKEN}` })).text();
  t.ok(await isReady());
  t.match(await metrics(), /^scenepress_queue_seconds\{/m);

  proxy.stall();
  await until(async () => !(await isReady()));
  t.match(await (await server.get('/health/ready')).json(), {
    status: 'not ready',
    problems: [{ part: 'storage', message: /^The database does not answer/ }],
  });
  const away = await metrics();
  t.match(away, /^scenepress_ready 0$/m);
  t.match(away, /^process_cpu_seconds_total /m);
  t.notMatch(away, /^scenepress_queue_seconds\{/m);

  await until(async () => /could not report to the others/.test(server.stderr()));
  proxy.resume();
  await until(isReady);
  await until(async () => /reports to the others again/.test(server.stderr()));
  t.match(await metrics(), /^scenepress_queue_seconds\{/m);
});

t.test('while the disk of the database is full, a server is not ready, and says why', async (t) => {
  const machines = await cluster(t);
  const { schema } = machines;
  const server = await machines.start('serve');
  const key = await newKey(machines);
  const post = () => server.post(key, { code: 'x', className: 'A' });
  t.equal((await post()).status, 202);
  await run(`CREATE FUNCTION ${schema}.fill() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`);
  await run(
    `CREATE TRIGGER fill BEFORE INSERT ON ${schema}.jobs FOR EACH ROW EXECUTE FUNCTION ${schema}.fill()`,
  );
  await run(`CREATE TRIGGER fill BEFORE INSERT ON ${schema}.confirmations FOR EACH ROW
    WHEN (length(NEW.nonce) > 100000) EXECUTE FUNCTION ${schema}.fill()`);
  t.equal((await post()).status, 503);
  const health = await server.get('/health/ready');
  t.equal(health.status, 503);
  t.match(await health.json(), {
    problems: [{ part: 'storage', message: /^The disk of the database is full/ }],
  });
  // One table at a time: a transaction that locks both may wait for one of the service, which waits for it.
  for (const table of ['jobs', 'confirmations']) await run(`DROP TRIGGER fill ON ${schema}.${table}`);
  await until(async () => (await server.get('/health/ready')).status === 200);
  t.equal((await post()).status, 202);
});

t.test('a worker that cannot start leaves no machine behind', async (t) => {
  const machines = await cluster(t);
  await machines.start('serve', ['--roles', 'api,upkeep', '--machine-name', 'front']);
  const bucket = { ...NO_BUCKET, SCENEPRESS_ARTIFACT_DIR: '' };
  const args = ['worker', '--data-dir', await temporaryFolder(t)];
  const failed = await machines.run(args, bucket);
  t.match(failed, { code: 1, stderr: /The bucket renders can't be used/ });
  // Commands that need no artifacts work without the bucket.
  const { code, stdout, stderr } = await machines.run(['machine', 'list', '--json'], bucket);
  t.equal(code, 0, stderr);
  t.match(JSON.parse(stdout) as MachineInfo[], [{ name: 'front' }]);
  t.equal((JSON.parse(stdout) as MachineInfo[]).length, 1);
});

t.test('commands go to the database when the server of the data folder does not answer', async (t) => {
  const machines = await cluster(t);
  const data = { SCENEPRESS_DATA_DIR: await temporaryFolder(t) };
  const server = await machines.start('serve', ['--machine-name', 'frozen'], data);
  server.kill('SIGSTOP');
  const { code, stdout } = await machines.run(['machine', 'list', '--json'], data);
  server.kill('SIGCONT');
  t.equal(code, 0);
  t.match(JSON.parse(stdout), [{ name: 'frozen' }]);
});

t.test('commands do not create an installation, except the first account', async (t) => {
  const machines = await cluster(t);
  const { schema } = machines;
  const schemas = () => run(`SELECT 1 FROM information_schema.schemata WHERE schema_name = '${schema}'`);
  t.match(await machines.run(['account', 'list']), {
    code: 1,
    stderr:
      /The schema \w+ of the database contains no installation\. Correct --database-url or --database-schema/,
  });
  t.same(await schemas(), []);
  t.match(await machines.run(['account', 'create', 'ada@example.org']), { code: 0 });
  t.match(await machines.run(['account', 'list']), { code: 0, stdout: /ada@example\.org/ });
  t.match(await machines.run(['account', 'list', '--database-schema', newSchema()]), { code: 1 });
});
