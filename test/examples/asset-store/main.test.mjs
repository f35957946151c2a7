import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { assetStoreSuite, fakeRenderService } from 'scenepress/testing';
import { MemoryAssets } from './memory-assets.mjs';

const open = async () => ({ subject: new MemoryAssets(), close: async () => {} });
for (const { title, run } of assetStoreSuite(open)) test(title, run);

test('videos are kept in the store', async () => {
  const service = fakeRenderService({ folder: './renders', assets: new MemoryAssets() });
  await service.start();
  const { jobId } = await service.enqueue({ owner: 'me', className: 'Main', code: '…' });
  await service.wait(jobId);
  const { stream } = await service.openArtifact(jobId, 'video.mp4', { range: { start: 4, end: 7 } });
  assert.equal((await buffer(stream)).toString(), 'ftyp');
  await service.stop();
});
