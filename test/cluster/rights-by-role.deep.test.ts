// Database users for each role, with the SQL of the manual.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import t, { type Test } from 'tap';
import { PostgresServer } from '../fixtures/postgres/server.ts';
import { cluster, enqueue, newKey, until } from './machines.ts';

const MANUAL = readFileSync(join(import.meta.dirname, '../../appliance/cluster.md'), 'utf8');
const [SECTION = ''] = /## Rights by role\n.*?\n## /s.exec(MANUAL) ?? [];
/** The statements that make the users, and those that are run again after an upgrade. */
const [USERS = '', GRANTS = ''] = Array.from(SECTION.matchAll(/```sql\n(.*?)```/gs), ([, sql]) => sql);
const GUARDED = ['accounts', 'acts', 'api_keys', 'key_uses', 'master_keys', 'sessions'];

/** A server with the users of the manual, and an installation made by `scenepress`, its owner. */
async function setUp(t: Test) {
  const server = await PostgresServer.start();
  t.teardown(() => server.remove());
  const superuser = new pg.Client({ connectionString: server.url });
  await superuser.connect();
  await superuser.query('CREATE ROLE scenepress LOGIN');
  await superuser.query('CREATE DATABASE studio OWNER scenepress');
  await superuser.query('REVOKE CONNECT ON DATABASE studio FROM PUBLIC');
  await superuser.end();
  const urlOf = (user: string) => `postgres://${user}@127.0.0.1:${server.port}/studio`;
  const as = async (user: string) => {
    const client = new pg.Client({ connectionString: urlOf(user) });
    await client.connect();
    t.teardown(() => client.end());
    return client;
  };
  const installation = await cluster(t, {
    SCENEPRESS_DATABASE_URL: urlOf('scenepress'),
    SCENEPRESS_DATABASE_SCHEMA: 'scenepress',
  });
  const { run, start } = installation;
  const key = await newKey(installation);
  const administrator = new pg.Client({ connectionString: server.url.replace(/postgres$/, 'studio') });
  await administrator.connect();
  t.teardown(() => administrator.end());
  for (const sql of [USERS, GRANTS, GRANTS]) await administrator.query(sql);
  const env = (user: string) => ({ SCENEPRESS_DATABASE_URL: urlOf(user) });
  return { run, start, as, env, key };
}

t.test('each role does its work with the rights of the manual', async (t) => {
  const { run, start, env, key } = await setUp(t);
  const upkeep = await start('serve', ['--roles', 'upkeep'], env('scenepress'));
  const api = await start('serve', ['--roles', 'api,sender'], env('scenepress_api'));
  const worker = await start('worker', [], env('scenepress_worker'));
  const ended = async (code: string) => {
    const jobId = await enqueue(api, key, code, { webhookUrl: 'https://127.0.0.1/hook' });
    return until(async () => {
      const answer = await api.get(`/api/v2/render/${jobId}`, { Authorization: `Bearer ${key}` });
      const { status } = (await answer.json()) as { status: string };
      return (status === 'completed' || status === 'failed') && status;
    });
  };
  t.equal(await ended('class Hello(Scene):'), 'completed');
  t.equal(await ended('fail: oh'), 'failed');
  const other = await start('worker', [], env('scenepress_worker'));
  const lingering = await enqueue(api, key, 'linger');
  const statusOf = async () => {
    const answer = await api.get(`/api/v2/render/${lingering}`, { Authorization: `Bearer ${key}` });
    return ((await answer.json()) as { status: string }).status;
  };
  await until(async () => (await statusOf()) === 'running');
  const canceled = await run(['job', 'cancel', lingering], env('scenepress_api'));
  t.equal(canceled.code, 0, canceled.stderr);
  await until(async () => (await statusOf()) === 'failed');
  const again = await enqueue(api, key, 'linger');
  await until(async () => (await run(['job', 'show', again])).stdout.includes('running'));
  for (const [name, machine] of Object.entries({ worker, other, upkeep, api })) {
    machine.kill('SIGTERM');
    t.equal(await machine.ended, 0, name);
    t.notMatch(machine.stderr(), /permission denied|must be owner/, name);
  }
  t.match((await run(['job', 'show', again])).stdout, /queued/, 'its worker has put it back');
});

t.test('a worker can neither read nor make accounts, keys and jobs', async (t) => {
  const { run, as, env } = await setUp(t);
  const client = await as('scenepress_worker');
  const denied = /permission denied/;
  for (const table of GUARDED) {
    for (const sql of ['SELECT 1 FROM', 'DELETE FROM', 'TRUNCATE']) {
      await t.rejects(client.query(`${sql} scenepress.${table}`), denied, `${sql} ${table}`);
    }
    const columns = await client.query(
      'SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum = 1',
      [`scenepress.${table}`],
    );
    const { attname } = columns.rows[0] as { attname: string };
    await t.rejects(client.query(`UPDATE scenepress.${table} SET ${attname} = ${attname}`), denied);
    await t.rejects(client.query(`INSERT INTO scenepress.${table} DEFAULT VALUES`), denied);
  }
  await t.rejects(client.query('INSERT INTO scenepress.jobs DEFAULT VALUES'), denied);
  await t.rejects(client.query('CREATE TABLE scenepress.other ()'), denied);
  await t.rejects(client.query('DROP TABLE scenepress.jobs'), /must be owner/);
  const promote = ['account', 'set-password', 'ada@example.org', '--role', 'admin'];
  const { code, stderr } = await run(promote, env('scenepress_worker'));
  t.not(code, 0);
  t.match(stderr, denied);
});

t.test('the doctor warns of a user with more rights than its roles need', async (t) => {
  const { run, env } = await setUp(t);
  const finding = async (user: string, roles: string) => {
    const { stdout, stderr } = await run(['doctor', '--json'], {
      ...env(user),
      SCENEPRESS_ROLES: roles,
      ...(roles === 'worker' && { SCENEPRESS_MASTER_KEY: undefined }),
    });
    if (stdout === '') throw new Error(stderr);
    const { findings } = JSON.parse(stdout) as {
      findings: { check: string; status: string; message: string }[];
    };
    const failed = findings.filter(({ check, status }) => check === 'Data' && status === 'failed');
    t.same(failed, [], `${user} can run the doctor`);
    return findings.find(({ check }) => check === 'Rights');
  };
  t.match(await finding('scenepress_worker', 'worker'), { status: 'ok' });
  t.match(await finding('scenepress_api', 'api,sender'), { status: 'ok' });
  t.match(await finding('scenepress', 'upkeep'), { status: 'ok' });
  t.match(await finding('scenepress_api', 'worker'), {
    status: 'warning',
    message: `scenepress_api has more than worker needs: it may use ${GUARDED.join(', ')}`,
  });
  t.match(await finding('scenepress', 'api,sender'), {
    status: 'warning',
    message: /may change and remove the tables/,
  });
  t.match(await finding('postgres', 'upkeep'), { status: 'warning', message: /is a superuser/ });
});
