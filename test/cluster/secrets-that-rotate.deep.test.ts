// A secret in a file that was replaced is used without a restart.
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import pg from 'pg';
import t from 'tap';
import { loadConfig } from '../../appliance/config/config.ts';
import { artifactStoreOf } from '../../appliance/place/artifact-store.ts';
import { openPlace } from '../../appliance/place/open-place.ts';
import { silentLogger } from '../../lib/base/logger.ts';
import { PostgresServer } from '../fixtures/postgres/server.ts';
import { noS3Server, s3Server } from '../fixtures/s3-server/s3-server.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

for (const how of ['a file of its own', 'the file of psql']) {
  t.test(`a password of the database is replaced in ${how}`, async (t) => {
    const folder = await temporaryFolder(t);
    chmodSync(folder, 0o755);
    const rules = join(folder, 'hba');
    writeFileSync(rules, 'host all postgres all trust\nhost all all all scram-sha-256\n');
    const server = await PostgresServer.start({ settings: { hba_file: rules } });
    t.teardown(() => server.remove());
    const administrator = new pg.Client({ connectionString: server.url });
    await administrator.connect();
    t.teardown(() => administrator.end());
    await administrator.query("CREATE ROLE studio LOGIN PASSWORD 'first:@'");
    await administrator.query('CREATE DATABASE studio OWNER studio');

    const file = join(folder, 'password');
    const write = (password: string) => {
      const line = how === 'the file of psql' ? `*:*:*:studio:${password.replaceAll(':', '\\:')}` : password;
      writeFileSync(file, `${line}\n`, { mode: 0o600 });
    };
    write('first:@');
    const { env } = process;
    if (how === 'the file of psql') t.intercept(process, 'env', { value: { ...env, PGPASSFILE: file } });
    const flags = {
      databaseUrl: `postgres://studio@127.0.0.1:${server.port}/studio`,
      dataDir: join(folder, 'own'),
      artifactDir: join(folder, 'artifacts'),
      masterKey: 'a'.repeat(64),
      ...(how === 'a file of its own' && { databasePasswordFile: file }),
    };
    const config = loadConfig({ flags, env: {} });
    const { place } = await openPlace(config, { serves: true, mayCreate: true, logger: silentLogger });
    t.teardown(() => place.stop());
    const read = () => place.accountStore.getAccount('nobody');
    t.equal(await read(), undefined);

    const rotate = async (password: string) => {
      await administrator.query(`ALTER ROLE studio PASSWORD '${password}'`);
      await administrator.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'studio'",
      );
    };
    await rotate('second');
    await t.rejects(read(), {
      code: 'storage_failed',
      retryAfterMs: 5_000,
      message: /password authentication failed/,
    });
    write('second');
    t.equal(await read(), undefined, 'the new password is used');
  });
}

t.test('the secret of an access key for S3 is replaced in its file', { skip: noS3Server }, async (t) => {
  const server = await s3Server(t);
  const { bucket, endpoint, credentials } = server.options;
  const folder = await temporaryFolder(t);
  const file = join(folder, 'secret');
  writeFileSync(file, `${credentials.secretAccessKey}\n`);
  const flags = {
    s3Bucket: bucket,
    s3Endpoint: endpoint,
    s3AccessKeyId: credentials.accessKeyId,
    s3SecretAccessKeyFile: file,
  };
  const { assets } = (await artifactStoreOf(loadConfig({ flags, env: {} }))) ?? {};
  if (!assets) throw new Error('there is a store');
  await assets.start?.();
  t.teardown(() => assets.stop?.());
  const path = join(folder, 'video');
  writeFileSync(path, 'a video');
  const put = () => assets.put('1-1/video.mp4', { path, contentType: 'video/mp4' });
  await put();
  await server.changeSecret('another-secret');
  await t.rejects(put(), { code: 'storage_failed', retryAfterMs: 5_000, message: /SignatureDoesNotMatch/ });
  writeFileSync(file, 'another-secret');
  await put();
  const opened = await assets.open('1-1/video.mp4');
  t.equal(String(opened && (await buffer(opened.stream))), 'a video');
});
