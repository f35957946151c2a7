// A whole service whose artifacts are in S3, behind a proxy that spoils exchanges.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { AssetStoreWatch } from '../../../lib/assets/asset-store-watch.ts';
import { s3 } from '../../../lib/assets/s3/index.ts';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { ScenepressClient } from '../../../lib/client/index.ts';
import type { RenderServiceOptions } from '../../../lib/index.ts';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { nodeHandler, webHandler } from '../../../lib/web/index.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { type Fault, faultyProxy } from '../../fixtures/faulty-proxy.ts';
import { indexingService } from '../../fixtures/indexing-service.ts';
import { noS3Server, s3Server } from '../../fixtures/s3-server/s3-server.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';

const SCENE = { className: 'Hello', code: 'class Hello(Scene):\n  pass\n' };
const test = (title: string, run: (t: Test) => Promise<void>) => t.test(title, { skip: noS3Server }, run);
const server = noS3Server ? (undefined as never) : await s3Server(t);

async function startService(t: Test, options: RenderServiceOptions = {}) {
  const proxy = await faultyProxy(t, server.url);
  const assets = s3({ ...server.options, endpoint: proxy.url, prefix: `${t.name}/`, attempts: 2 });
  const service = fakeRenderService({ folder: testFolder(t), assets, ...options });
  await service.start();
  t.teardown(() => service.stop());
  return { proxy, assets, service };
}

/** Serves the HTTP API, which redirects to presigned links. */
async function serve(t: Test, { service, assets }: Awaited<ReturnType<typeof startService>>) {
  const listener = createServer();
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.teardown(() => {
    listener.closeAllConnections();
    listener.close();
  });
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const handle = webHandler({
    service,
    authenticate: async () => ({ owner: 'ada', keyId: 'k', keyPrefix: 'svc', webhookUrl: null }),
    assetUrl: url,
    redirectTo: ({ assetKey }) => assets.presign(assetKey),
  });
  listener.on('request', nodeHandler(handle));
  return { url, client: new ScenepressClient({ url, key: 'secret' }) };
}

test('a render is given the last video of its scene', async (t) => {
  const assets = s3({ ...server.options, prefix: `${t.name}/` });
  const { service, render, renderer } = await indexingService(t, { assets });
  const first = await render();
  await render();
  t.same(renderer.earlier[1], { index: 'index 1', video: 'video 1' });
  const opened = await assets.open(`${first.jobId}-1/video.index`);
  t.equal(String(opened && (await buffer(opened.stream))), 'index 1');
  await service.forget(first.jobId);
  t.equal(await assets.open(`${first.jobId}-1/video.index`), undefined);
});

test('artifacts are fetched by the links of the job, which lead to S3', async (t) => {
  const started = await startService(t);
  const { proxy } = started;
  const { url, client } = await serve(t, started);
  const job = await client.render(SCENE);
  const link = job.result?.video ?? '';
  t.ok(link.startsWith(`${url}/artifacts/`));
  const response = await fetch(link, { redirect: 'manual' });
  t.equal(response.status, 307);
  t.match(Object.fromEntries(response.headers), {
    location: new RegExp(`^${proxy.url}/renders/.*X-Amz-Signature=`),
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
  });
  const part = await client.download(job, 'video', { range: { start: 4, end: 7 } });
  t.equal(await part.text(), 'ftyp');
  const head = await fetch(link, { method: 'HEAD' });
  t.equal(head.status, 200);
  t.equal(head.headers.get('content-type'), 'video/mp4');
});

test('without a redirect, the service passes artifacts on', async (t) => {
  const { service } = await startService(t);
  const { jobId } = await service.enqueue({ owner: 'ada', ...SCENE });
  await service.wait(jobId);
  const { stream, sizeBytes } = await service.openArtifact(jobId, 'video.mp4');
  t.equal((await buffer(stream)).length, sizeBytes);
});

const GONE = '<Error><Code>NoSuchBucket</Code><Message>it is gone</Message></Error>';
const WRONG = '<Error><Code>InvalidAccessKeyId</Code><Message>unknown</Message></Error>';
const faults: [what: string, fault: Fault][] = [
  ['the server is overloaded', { answer: 503 }],
  ['the bucket is gone', { answer: 404, body: GONE }],
  ['the right to write is missing', { answer: 403 }],
  ['the access key is wrong', { answer: 403, body: WRONG }],
  ['checksums are not supported', { answer: 501 }],
];
for (const [what, fault] of faults) {
  test(`while ${what}, jobs wait; then they complete`, async (t) => {
    const { proxy, service } = await startService(t);
    let puts = 0;
    let isFaulty = true;
    proxy.faultOf = ({ method }) => {
      if (method !== 'PUT' || !isFaulty) return undefined;
      puts += 1;
      return fault;
    };
    let starts = 0;
    service.on('job', ({ status }) => void (status === 'running' && starts++));
    const { jobId } = await service.enqueue({ owner: 'ada', ...SCENE });
    await until(() => !service.status().ready);
    t.match(service.status().problems, [{ part: 'artifacts' }]);
    const before = puts;
    await until(() => puts > before);
    isFaulty = false;
    t.match(await service.wait(jobId), { status: 'completed', attempts: 1 });
    t.equal(starts, 2, 'it is rendered again only when its artifacts can be stored');
    t.same(service.status().problems, []);
  });
}

for (const stores of [true, false]) {
  test(`an idle process that ${stores ? 'stores' : 'only reads'} artifacts notices that S3 is away`, async (t) => {
    const proxy = await faultyProxy(t, server.url);
    const clock = new FakeClock('2026-11-27T10:00:00Z');
    const assets = s3({ ...server.options, endpoint: proxy.url, prefix: `${t.name}/`, attempts: 1 });
    await assets.start();
    const watch = new AssetStoreWatch({
      assets,
      folder: stores ? testFolder(t) : undefined,
      spareSpace: undefined,
      clock,
      random: systemRandom,
      logger: silentLogger,
    });
    watch.start();
    t.teardown(async () => {
      await watch.stop();
      await assets.stop();
    });
    let looks = 0;
    proxy.faultOf = () => void looks++;
    clock.advance(60_000);
    await until(() => looks > 0);
    t.notOk(watch.isUnusable);
    proxy.faultOf = () => ({ answer: 503 });
    const pass = setInterval(() => clock.advance(10_000), 100);
    t.teardown(() => clearInterval(pass));
    await until(() => watch.isUnusable);
    proxy.faultOf = () => undefined;
    await until(() => !watch.isUnusable);
  });
}

test('forgetting a job removes its objects', async (t) => {
  const { service, assets } = await startService(t);
  const { jobId } = await service.enqueue({ owner: 'ada', ...SCENE });
  const { artifacts } = await service.wait(jobId);
  t.equal(artifacts.length, 2);
  await service.forget(jobId);
  for (const { assetKey } of artifacts) t.equal(await assets.open(assetKey), undefined);
});

test('webhooks and jobs have links below the public URL', async (t) => {
  const { options } = server;
  const assets = s3({ ...options, prefix: 'public/', publicUrl: 'https://cdn.example.org' });
  const service = fakeRenderService({ folder: testFolder(t), assets, artifactUrl: assets.artifactUrl });
  await service.start();
  t.teardown(() => service.stop());
  const authenticate = async () => ({ owner: 'ada', keyId: 'k', keyPrefix: 'svc', webhookUrl: null });
  const handle = webHandler({ service, authenticate, artifactUrl: assets.artifactUrl });
  const { jobId } = await service.enqueue({ owner: 'ada', ...SCENE });
  const { artifacts } = await service.wait(jobId);
  const request = new Request(`http://x/api/v2/render/${jobId}`, { headers: { authorization: 'Bearer k' } });
  const { result } = (await (await handle(request)).json()) as { result: { video: string } };
  t.equal(result.video, `https://cdn.example.org/public/${artifacts[0]?.assetKey}`);
});
