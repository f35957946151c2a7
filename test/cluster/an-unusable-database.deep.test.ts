import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import t, { type Test } from 'tap';
import { openInstallation } from '../../appliance/app/installation.ts';
import { shownSetting } from '../../appliance/cli/config.ts';
import { loadConfig, readSettings } from '../../appliance/config/config.ts';
import { isExposed } from '../../appliance/place/database-connection.ts';
import { openPlace } from '../../appliance/place/open-place.ts';
import { silentLogger } from '../../lib/base/logger.ts';
import { DataFolder } from '../../lib/index.ts';
import { TestAuthority } from '../fixtures/certificates.ts';
import { newSchema, run, serverUrl } from '../fixtures/postgres/database.ts';
import { PostgresServer } from '../fixtures/postgres/server.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { MASTER_KEY } from './machines.ts';

async function configOf(t: Test, flags: Record<string, unknown>) {
  const artifactDir = await temporaryFolder(t);
  return loadConfig({ flags: { dataDir: join(artifactDir, 'own'), artifactDir, ...flags }, env: {} });
}

/** The message with which a server refuses to start. */
async function refusal(t: Test, flags: Record<string, unknown>): Promise<string> {
  const world = { serves: true, mayCreate: true, logger: silentLogger };
  const config = { ...(await configOf(t, flags)), masterKey: MASTER_KEY };
  const opened = await openPlace(config, world).catch((error: Error) => error);
  if (opened instanceof Error) return opened.message;
  await opened.place.stop();
  return 'opened';
}

t.test('errors name the remedy', async (t) => {
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as { port: number };
  closed.close();
  t.match(
    await refusal(t, { databaseUrl: `postgres://studio@127.0.0.1:${port}/studio` }),
    /The database can't be used \(connect ECONNREFUSED .*\)\. Start Postgres, or correct host and port in --database-url/,
  );
  const url = new URL(await serverUrl());
  url.pathname = '/nosuch';
  t.match(await refusal(t, { databaseUrl: url.href }), /"nosuch" does not exist\)\. Create the database/);
  const config = { databaseUrl: await serverUrl() };
  t.match(
    await refusal(t, { ...config, artifactDir: undefined }),
    /artifacts must be where all machines reach them: set --s3-bucket/,
  );
  t.match(await refusal(t, { ...config, roles: 'worker' }), /set --public-url/);
});

t.test('a schema of another version is refused', async (t) => {
  const schema = newSchema();
  const config = { databaseUrl: await serverUrl(), databaseSchema: schema };
  t.equal(await refusal(t, config), 'opened');
  await run('INSERT INTO migrations VALUES (99, 99, 7)', { schema });
  t.match(
    await refusal(t, config),
    /made by another version of Scenepress \(schema 99, .*Use the version that made it/,
  );
});

t.test('every machine that uses secrets needs the same master key', async (t) => {
  const config = { databaseUrl: await serverUrl(), databaseSchema: newSchema() };
  const open = async (masterKey: string | undefined, roles?: string) => {
    const flags = {
      ...config,
      ...(roles !== undefined && { roles, publicUrl: 'https://render.example.org' }),
    };
    const given = { ...(await configOf(t, flags)), ...(masterKey !== undefined && { masterKey }) };
    const serves = { serves: true };
    const installation = await openInstallation(given, undefined, serves).catch((error: Error) => error);
    if (installation instanceof Error) return installation.message;
    await installation.close();
    return 'opened';
  };
  const missing = /must be given the same master key: set SCENEPRESS_MASTER_KEY/;
  t.match(await open(undefined), missing);
  t.match(await open(undefined, 'api'), missing);
  t.match(await open(undefined, 'worker,sender'), missing);
  t.equal(await open(undefined, 'worker,upkeep'), 'opened');
  t.equal(await open(MASTER_KEY), 'opened');
  t.match(await open('77'.repeat(32)), /is not the one that the secrets in the database are encrypted with/);
  t.equal(await open(MASTER_KEY), 'opened');
});

t.test('a folder with an installation of its own is refused', async (t) => {
  const dataDir = await temporaryFolder(t);
  const folder = new DataFolder(dataDir);
  await folder.start();
  await folder.stop();
  const config = { databaseUrl: await serverUrl(), databaseSchema: newSchema(), dataDir };
  t.match(await refusal(t, config), /Move it there with `scenepress migrate --from/);
});

t.test('passwords and certificates', async (t) => {
  const authority = new TestAuthority(testFolder(t));
  const server = await PostgresServer.start({ tls: authority.issue(['localhost']) });
  t.teardown(() => server.remove());
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query("CREATE ROLE studio LOGIN PASSWORD 'open:@sesame'");
  await client.query('CREATE DATABASE studio OWNER studio');
  const { rows } = await client.query<{ hba_file: string }>('SHOW hba_file');
  const lines = ['hostssl all studio 127.0.0.1/32 scram-sha-256', 'host all postgres 127.0.0.1/32 trust'];
  await client.query(
    `COPY (SELECT unnest('{${lines.map((line) => `"${line}"`)}}'::text[])) TO '${rows[0]?.hba_file}'`,
  );
  await client.query('SELECT pg_reload_conf()');
  await client.end();

  const folder = await temporaryFolder(t);
  const fileWith = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const databaseUrl = `postgres://studio@localhost:${server.port}/studio`;
  const databaseCa = authority.caFile;
  const databasePasswordFile = fileWith('password', 'open:@sesame\n');
  t.equal(await refusal(t, { databaseUrl, databaseCa, databasePasswordFile }), 'opened');

  const wrong = fileWith('wrong', 'guess');
  t.match(
    await refusal(t, { databaseUrl, databaseCa, databasePasswordFile: wrong }),
    /password authentication failed .*\)\. Give the right user in --database-url, and its password/,
  );
  t.match(
    await refusal(t, { databaseUrl, databaseCa }),
    /set SCENEPRESS_DATABASE_PASSWORD_FILE, PGPASSWORD or the file PGPASSFILE/,
  );
  t.match(
    await refusal(t, { databaseUrl, databasePasswordFile, databaseTls: 'on' }),
    /certificate.*\)\. Set SCENEPRESS_DATABASE_CA/,
  );

  const passFile = fileWith('pgpass', `localhost:${server.port}:*:studio:open\\:@sesame\n`);
  chmodSync(passFile, 0o600);
  process.env['PGPASSFILE'] = passFile;
  t.teardown(() => delete process.env['PGPASSFILE']);
  t.equal(await refusal(t, { databaseUrl, databaseCa }), 'opened');
});

t.test('a user without privileges or connections', async (t) => {
  const server = await PostgresServer.start();
  t.teardown(() => server.remove());
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  t.teardown(() => client.end());
  await client.query('CREATE ROLE studio LOGIN');
  await client.query('CREATE DATABASE studio');
  const databaseUrl = `postgres://studio@127.0.0.1:${server.port}/studio`;
  t.match(await refusal(t, { databaseUrl }), /permission denied .*\)\. Let the user .* create a schema/);
  await client.query('REVOKE CONNECT ON DATABASE studio FROM PUBLIC');
  t.match(
    await refusal(t, { databaseUrl }),
    /permission denied .*\)\. Let the user .* connect: GRANT CONNECT ON DATABASE/,
  );
  await client.query('ALTER DATABASE studio OWNER TO studio');
  await client.query('ALTER ROLE studio CONNECTION LIMIT 0');
  t.match(
    await refusal(t, { databaseUrl }),
    /too many connections .*\)\. Raise max_connections .*CONNECTION LIMIT.* --database-connections/,
  );
});

t.test('connections that others may read are recognized', async (t) => {
  for (const [databaseUrl, options, exposed] of [
    ['postgres://db.example.org/a', {}, true],
    ['postgres://db.example.org/a?sslmode=disable', {}, true],
    ['postgres://db.example.org/a?sslmode=no-verify', {}, true],
    ['postgres://db.example.org/a?sslmode=require&uselibpqcompat=true', {}, true],
    ['postgres://db.example.org/a?sslmode=verify-full', { databaseTls: 'off' }, true],
    ['postgres://db.example.org/a?sslmode=verify-full', {}, false],
    ['postgres://db.example.org/a?sslmode=require', {}, false],
    ['postgres://db.example.org/a', { databaseTls: 'on' }, false],
    ['postgres://db.example.org/a', { databaseCa: 'ca.pem' }, false],
    ['postgres://localhost/a', {}, false],
    ['postgres://127.0.0.1:5433/a', {}, false],
    ['postgres:///a?host=/run/postgresql', {}, false],
    ['postgres:///a?host=db.example.org', {}, true],
  ] as const) {
    t.equal(isExposed(loadConfig({ flags: { databaseUrl, ...options }, env: {} })), exposed, databaseUrl);
  }
});

t.test('the password is never shown', async (t) => {
  const databaseUrl = 'postgres://studio:sesame@db.example.org/studio?sslpassword=sesame2';
  const shown = readSettings({ flags: { databaseUrl }, env: {} }).map(shownSetting);
  t.match(JSON.stringify(shown), /postgres:\/\/studio:\*\*\*@db.example.org\/studio/);
  t.notMatch(JSON.stringify(shown), /sesame/);
  t.throws(() => loadConfig({ flags: { databaseUrl: 'mysql://studio:sesame@db' }, env: {} }), {
    message: /^(?!.*sesame).*--database-url must be a URL like postgres:/,
  });
});

t.test('options that need a database or a bucket are refused without', async (t) => {
  for (const [flags, message] of [
    [{ roles: 'api' }, /--roles \(SCENEPRESS_ROLES\) needs a database: set --database-url/],
    [
      { roles: 'cook', databaseUrl: 'postgres://db/a' },
      /--roles must be some of api, worker, sender, upkeep/,
    ],
    [
      { databaseUrl: 'postgres://studio:sesame@db/a' },
      /^(?!.*sesame).*can read command lines: give the password/,
    ],
    [{ s3Region: 'eu' }, /--s3-region .* needs a bucket/],
    [{ s3Checksums: 'false' }, /--s3-checksums .* needs a bucket/],
    [
      { s3Bucket: 'renders', s3Endpoint: 'https://id:secret@s3' },
      /^(?!.*secret).*--s3-endpoint must be an http/,
    ],
    [{ s3Bucket: 'renders', artifactDir: '/mnt' }, /Artifacts are kept in one place/],
    [{ s3Bucket: 'renders', s3Links: 'public' }, /Public links need --s3-public-url/],
    [{ s3Bucket: 'renders', s3AccessKeyId: 'id' }, /needs its id, .* and its secret/],
  ] as const) {
    t.throws(() => loadConfig({ flags, env: {} }), { message });
  }
});
