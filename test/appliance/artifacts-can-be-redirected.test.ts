import { server } from '@hapi/hapi';
import t from 'tap';
import { artifacts } from '../../appliance/http/render-api.ts';
import { fakeRenderService } from '../../lib/testing/index.ts';
import { testFolder } from '../fixtures/test-folder.ts';

t.test('GET requests are redirected where the embedder says, HEAD requests are answered', async (t) => {
  const service = fakeRenderService({ folder: testFolder(t) });
  await service.start();
  t.teardown(() => service.stop());
  const { jobId } = await service.enqueue({ owner: 'ada', className: 'Hello', code: 'x' });
  await service.wait(jobId);
  const hapi = server();
  const redirectTo = ({ name, assetKey }: { name: string; assetKey: string }) =>
    name === 'video.mp4' ? `https://bucket.example/${assetKey}` : undefined;
  await hapi.register({ plugin: artifacts, options: { service, redirectTo } });

  const url = `/artifacts/${jobId}/video.mp4`;
  const redirected = await hapi.inject({ url, headers: { range: 'bytes=0-1' } });
  t.equal(redirected.statusCode, 307);
  t.match(redirected.headers, {
    location: `https://bucket.example/${jobId}-1/video.mp4`,
    'cache-control': 'no-store',
  });
  t.equal(redirected.payload, '');
  const head = await hapi.inject({ url, method: 'HEAD' });
  t.match(head, { statusCode: 200, headers: { 'content-type': 'video/mp4' } });
  const thumbnail = await hapi.inject(`/artifacts/${jobId}/thumbnail.jpg`);
  t.match(thumbnail, { statusCode: 200, headers: { 'content-type': 'image/jpeg' } });
  const missing = await hapi.inject('/artifacts/nothing/video.mp4');
  t.equal(missing.statusCode, 404);
});
