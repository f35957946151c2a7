import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { fakeRenderService } from '../../../lib/testing/index.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { inspectVideo } from '../../fixtures/video.ts';

const request = { owner: 'ada', className: 'Main', code: 'x' };

t.test('a fake service completes jobs with a real video', async (t) => {
  const service = fakeRenderService({ folder: testFolder(t) });
  t.teardown(() => service.stop());
  await service.start();
  const { jobId } = await service.enqueue({ ...request, code: 'self.add_subcaption("x")' });
  const job = await service.wait(jobId);
  t.same(
    job.artifacts.map(({ name }) => name),
    ['video.mp4', 'thumbnail.jpg', 'captions.vtt'],
  );
  const { path = '', stream } = await service.openArtifact(jobId, 'video.mp4');
  t.ok((await buffer(stream)).length < 2000);
  t.match(await inspectVideo(path), { widthPx: 32, heightPx: 18, fps: 15, codec: 'h264', frames: 15 });
  t.same(await service.scenesOf('class A(Scene):\n  pass\nclass B(ThreeDScene):\n'), ['A', 'B']);
});

t.test('scenes fail with the given error, and running jobs can be canceled', async (t) => {
  const service = fakeRenderService({ renderMs: 60_000, folder: testFolder(t) });
  t.teardown(() => service.stop());
  await service.start();
  const { jobId } = await service.enqueue(request);
  for await (const event of service.follow(jobId))
    if (event.type === 'job' && event.job.status === 'running') await service.cancel(jobId);
  t.match(await service.get(jobId), { status: 'failed', error: 'Canceled', failedBy: 'cancel' });
  const failing = fakeRenderService({
    failureOf: ({ className }) =>
      ({ Main: 'no', Slow: { error: 'too slow', failedBy: 'limit:time' as const } })[className],
  });
  t.teardown(() => failing.stop());
  await failing.start();
  const failed = await failing.enqueue(request);
  t.match(await failing.wait(failed.jobId), { status: 'failed', error: 'no', failedBy: 'scene' });
  const slow = await failing.enqueue({ ...request, className: 'Slow' });
  t.match(await failing.wait(slow.jobId), { status: 'failed', error: 'too slow', failedBy: 'limit:time' });
});

t.test('without a place for its data it leaves none when it stops', async (t) => {
  const service = fakeRenderService();
  t.teardown(() => service.stop());
  await service.start();
  const { jobId } = await service.enqueue(request);
  await service.wait(jobId);
  const { path = '', stream } = await service.openArtifact(jobId, 'video.mp4');
  stream.destroy();
  const folder = dirname(dirname(dirname(path)));
  t.ok(existsSync(folder));
  await service.stop();
  t.notOk(existsSync(folder));
});
