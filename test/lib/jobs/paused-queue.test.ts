import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { DataFolder, RenderService, type RenderServiceOptions } from '../../../lib/index.ts';
import type { Settings, SettingsStore } from '../../../lib/storage/settings-store.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';

const PYTHON = join(import.meta.dirname, '..', '..', 'fixtures', 'instant-renderer', 'bin', 'python');
const SCENE = { owner: 'ada', className: 'Main', code: 'a scene', metadata: { lesson: 7 } };

function serviceIn(t: Test, folder: string, options: RenderServiceOptions = {}): RenderService {
  const renderer = { python: PYTHON, insecureNoSandbox: true };
  const service = new RenderService({ folder, workers: 1, renderer, ...options });
  t.teardown(() => service.stop());
  return service;
}

t.test('a paused queue accepts jobs but starts none until it is resumed', async (t) => {
  const service = serviceIn(t, testFolder(t));
  await service.start();
  t.equal(service.status().queuePausedAt, null);
  await service.pauseQueue();
  const { jobId } = await service.enqueue(SCENE);
  await until(() => service.status().queued === 1); // It is counted after the answer.
  t.match(service.status(), { ready: true, running: 0, queuePausedAt: /Z$/ });
  await service.resumeQueue();
  t.match(await service.wait(jobId), { status: 'completed' });
  t.equal(service.status().queuePausedAt, null);
});

t.test('a pause survives a restart and is logged', async (t) => {
  const folder = testFolder(t);
  const first = serviceIn(t, folder);
  await first.start();
  await first.pauseQueue();
  const { queuePausedAt } = first.status();
  const { jobId } = await first.enqueue(SCENE);
  await first.stop();

  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (_: unknown, text: string) => warnings.push(text) };
  const second = serviceIn(t, folder, { logger });
  await second.start();
  t.match(second.status(), { queued: 1, running: 0, queuePausedAt });
  t.ok(warnings.some((warning) => warning.includes('paused')));
  await second.resumeQueue();
  t.match(await second.wait(jobId), { status: 'completed' });
});

t.test('a pause is stored in the embedder’s settings store', async (t) => {
  let kept: Settings = { queuePausedAtMs: null };
  const settings: SettingsStore = {
    getSettings: async () => kept,
    changeSettings: async (change) => {
      kept = change(kept);
      return kept;
    },
  };
  const service = serviceIn(t, testFolder(t), { settings });
  await service.startWithoutWorkers();
  await service.pauseQueue();
  t.equal(new Date(kept.queuePausedAtMs ?? 0).toISOString(), service.status().queuePausedAt);
  await service.stop();
  kept = { queuePausedAtMs: 5 };
  await service.startWithoutWorkers();
  t.equal(service.status().queuePausedAt, new Date(5).toISOString());
});

t.test('a queued job can be canceled while the queue is paused', async (t) => {
  const service = serviceIn(t, testFolder(t));
  await service.start();
  await service.pauseQueue();
  const { jobId } = await service.enqueue(SCENE);
  t.match(await service.cancel(jobId), { status: 'failed', error: 'Canceled' });
  t.equal(service.status().queued, 0);
});

t.test('renderAgain creates a new job with the same request', async (t) => {
  const service = serviceIn(t, testFolder(t));
  await service.start();
  const job = await service.enqueue({ ...SCENE, quality: 'high', fps: 7, aspectRatio: '9:16' });
  await service.wait(job.jobId);
  const again = await service.renderAgain(job.jobId, { owner: 'ada' });
  t.not(again.jobId, job.jobId);
  const { owner, className, quality, fps, aspectRatio, metadataJson } = job;
  t.match(again, { owner, className, quality, fps, aspectRatio, metadataJson, status: 'queued' });
  t.match(await service.wait(again.jobId), { status: 'completed' });
  t.match(await service.get(job.jobId), { status: 'completed' }, 'the earlier job is not changed');
  await t.rejects(service.renderAgain(job.jobId, { owner: 'eve' }), { code: 'not_found' });
});

t.test('renderAgain changes what it is asked to', async (t) => {
  const service = serviceIn(t, testFolder(t));
  await service.start();
  const { jobId } = await service.enqueue({ ...SCENE, quality: 'low', metadataJson: '1.0', title: 'a' });
  await service.wait(jobId);
  const again = (options: Parameters<RenderService['renderAgain']>[1]) => service.renderAgain(jobId, options);
  t.match(await again({ changes: { quality: 'high' } }), { quality: 'high', fps: 60, metadataJson: '1.0' });
  t.match(await again({ changes: { fps: 7, title: 'b' } }), { quality: 'low', fps: 7, title: 'b' });
  t.match(await again({ changes: { metadata: { a: 1 }, className: 'B' } }), {
    ...{ metadataJson: '{"a":1}', className: 'B', title: 'a' },
  });
  await t.rejects(again({ changes: { fps: 0 } }), { code: 'invalid_request' });
  await t.rejects(again({ changes: { owner: 'eve' } as object }), { code: 'invalid_request' });
  const idempotency = { key: 'k' };
  t.equal((await again({ idempotency })).jobId, (await again({ idempotency })).jobId);
  await t.rejects(again({ idempotency, changes: { seed: 1 } }), { code: 'conflict' });
});

t.test(
  'without workers jobs can be enqueued, canceled and rendered again; the next start renders them',
  async (t) => {
    const folder = testFolder(t);
    const closed = serviceIn(t, folder);
    await closed.startWithoutWorkers();
    t.match(closed.status(), { ready: false, workers: 0 });
    const [first, second] = [await closed.enqueue(SCENE), await closed.enqueue(SCENE)];
    t.match(await closed.cancel(first.jobId), { status: 'failed', error: 'Canceled' });
    const again = await closed.renderAgain(first.jobId);
    t.equal((await closed.get(second.jobId)).status, 'queued');
    await closed.stop();

    const service = serviceIn(t, folder);
    await service.start();
    t.match(await service.wait(second.jobId), { status: 'completed' });
    t.match(await service.wait(again.jobId), { status: 'completed' });
  },
);

t.test('without workers a job left running by a killed service can be canceled', async (t) => {
  const dataFolder = new DataFolder(await temporaryFolder(t));
  await dataFolder.start();
  await dataFolder.storage.transaction((tx) =>
    dataFolder.storage.insertJob(tx, jobRecord('1', { phase: 'running', attempts: 1 }), 'a scene'),
  );
  const service = new RenderService({ dataFolder });
  t.teardown(() => service.stop());
  await service.startWithoutWorkers();
  t.match(await service.cancel('1'), { status: 'failed', error: 'Canceled' });
});
