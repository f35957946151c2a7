import t from 'tap';
import { scenepress } from '../appliance/command.ts';
import { PASSWORD } from '../dashboard/browser.ts';
import { signedIn } from '../dashboard/client.ts';
import { cluster, enqueue, newKey, until } from './machines.ts';

t.test('a server shows progress and pictures of what a worker renders', async (t) => {
  const machines = await cluster(t);
  const server = await machines.start('serve', ['--roles', 'api,upkeep']);
  const worker = await machines.start('worker');
  const key = await newKey(machines);
  const account = 'ada@example.org';
  const { code, stderr } = await scenepress(['account', 'set-password', account], {
    env: { ...machines.env, SCENEPRESS_DATA_DIR: '/nonexistent' },
    stdin: `${PASSWORD}\n`,
  });
  t.equal(code, 0, stderr);
  const client = await signedIn(t, server.port, account);
  const jobId = await enqueue(server, key, 'sketch');
  const page = async () => (await client.get(`/dashboard/jobs/${jobId}`)).text;
  await until(async () => /30 frames, 2\.0 s of video/.test(await page()));
  const picture = await until(async () => {
    const answer = await client.get(`/dashboard/jobs/${jobId}/picture`);
    return answer.status === 200 && answer;
  });
  t.match(picture.headers, { 'content-type': 'image/jpeg' });
  t.same(picture.bytes, Buffer.from('/9j/2Q==', 'base64'));

  worker.release();
  const gone = async () => (await client.get(`/dashboard/jobs/${jobId}/picture`)).status === 204;
  t.ok(await until(gone), 'it ends with the render');
});
