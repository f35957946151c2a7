// Copies of a database whose artifacts are in the bucket of the original: restored dumps, and a replica.
import t, { type Test } from 'tap';
import type { S3Credentials } from '../../lib/assets/s3/index.ts';
import { FileAssetStore } from '../../lib/index.ts';
import { postgres } from '../../lib/postgres/index.ts';
import { fakeRenderService } from '../../lib/testing/index.ts';
import { PostgresServer } from '../fixtures/postgres/server.ts';
import { noS3Server, s3Server } from '../fixtures/s3-server/s3-server.ts';
import { testFolder } from '../fixtures/test-folder.ts';
import { type Cluster, cluster, enqueue, type Machine, newKey, until } from './machines.ts';

const ROLES = ['--roles', 'api,worker,upkeep'];

async function installation(t: Test): Promise<{ server: PostgresServer; studio: Cluster }> {
  const server = await PostgresServer.start();
  t.teardown(() => server.remove());
  const { options } = await s3Server(t);
  const { accessKeyId, secretAccessKey } = options.credentials as S3Credentials;
  const studio = await cluster(t, {
    SCENEPRESS_DATABASE_URL: server.url,
    SCENEPRESS_ARTIFACT_DIR: '',
    SCENEPRESS_S3_BUCKET: options.bucket,
    SCENEPRESS_S3_ENDPOINT: options.endpoint,
    SCENEPRESS_S3_ACCESS_KEY_ID: accessKeyId,
    SCENEPRESS_S3_SECRET_ACCESS_KEY: secretAccessKey,
  });
  return { server, studio };
}

const video = (machine: Machine, jobId: string) => async () =>
  (await machine.get(`/artifacts/${jobId}/video.mp4`)).status;
const isRendered = (machine: Machine, jobId: string) =>
  until(async () => (await video(machine, jobId)()) === 200);

t.test('a restored dump leaves the artifacts of the original alone', { skip: noS3Server }, async (t) => {
  const { server, studio } = await installation(t);
  const original = await studio.start('serve', ROLES);
  const key = await newKey(studio);
  const done = await enqueue(original, key, 'x');
  await isRendered(original, done);
  // The job behind it waits at the dump.
  await enqueue(original, key, 'linger');
  const waiting = await enqueue(original, key, 'y');
  const copy = { SCENEPRESS_DATABASE_URL: await server.restoredDump('copy') };
  await until(async () => {
    original.release();
    return (await video(original, waiting)()) === 200;
  });

  await t.rejects(studio.start('serve', ROLES, copy), { message: /ended with 1: .*This data is a copy/s });
  await t.rejects(studio.start('worker', [], copy), { message: /ended with 1: .*This data is a copy/s });
  const forgotten = await studio.run(['job', 'forget', done], copy);
  t.match(forgotten, { code: 1, stderr: /This data is a copy/ });
  for (const jobId of [done, waiting]) t.equal(await video(original, jobId)(), 200);

  t.test('for a drill, it is made an installation of its own', async (t) => {
    const same = await studio.run(['installation', 'separate'], copy);
    t.match(same, { code: 1, stderr: /belongs to the installation inst_.*--s3-prefix/ });
    const drill = { ...copy, SCENEPRESS_S3_PREFIX: 'drill/' };
    const from = ['--artifacts-from', 's3://renders'];
    const separated = await studio.run(['installation', 'separate', ...from], drill);
    t.match(separated, {
      code: 0,
      stdout: /is the installation inst_\w+ from now on.\nCopied 2 artifacts; 0/,
    });
    const machine = await studio.start('serve', ROLES, drill);
    t.equal(await video(machine, done)(), 200, 'it reads the old artifacts');
    await isRendered(machine, waiting);
    const forget = await studio.run(['job', 'forget', done], drill);
    t.equal(forget.code, 0, forget.stderr);
    t.equal(await video(machine, done)(), 410);
    for (const jobId of [done, waiting]) t.equal(await video(original, jobId)(), 200);
    await t.rejects(studio.start('serve', ROLES, copy), { message: /belongs to the installation/ });
  });

  t.test('when the original is lost, it continues the installation', async (t) => {
    const second = { SCENEPRESS_DATABASE_URL: await server.restoredDump('second') };
    original.kill('SIGKILL');
    await original.ended;
    const continued = await studio.run(['installation', 'continue'], second);
    t.match(continued, { code: 0, stdout: /continues the installation inst_\w+\. The original is refused/ });
    const machine = await studio.start('serve', ROLES, second);
    for (const jobId of [done, waiting]) t.equal(await video(machine, jobId)(), 200);
    await t.rejects(studio.start('serve', ROLES), { message: /older than the artifacts/ });
  });
});

t.test('a replica that takes over needs no command', async (t) => {
  const primary = await PostgresServer.start();
  t.teardown(() => primary.remove());
  const folder = testFolder(t);
  const serviceOn = (url: string) => {
    const storage = postgres(url);
    const service = fakeRenderService({
      storage,
      assets: new FileAssetStore(folder),
      workFolder: `${folder}/work`,
    });
    t.teardown(() => service.stop());
    return service;
  };
  const first = serviceOn(primary.url);
  await first.start();
  const replica = await primary.replica();
  t.teardown(() => replica.remove());
  await first.stop();
  await primary.stop('SIGQUIT');
  await replica.promote();
  await t.resolves(serviceOn(replica.url).start());
});
