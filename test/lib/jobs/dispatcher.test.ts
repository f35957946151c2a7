import t from 'tap';
import { systemClock } from '../../../lib/clock.ts';
import { DataFolder } from '../../../lib/index.ts';
import { DEFAULT_QUEUE, Dispatcher } from '../../../lib/jobs/dispatcher.ts';
import { JobBook } from '../../../lib/jobs/job-book.ts';
import { Pricing } from '../../../lib/ledger/pricing.ts';
import { UnmeteredLedger } from '../../../lib/ledger/unmetered-ledger.ts';
import { silentLogger } from '../../../lib/logger.ts';
import type { RenderPool } from '../../../lib/render/render-pool.ts';
import type { RenderResult } from '../../../lib/render/render-task.ts';

t.test('an attempt that begins before the one before it is put away counts, and can be ended', async (t) => {
  const { storage, assets } = new DataFolder(t.testdir());
  await storage.start();
  t.teardown(() => storage.stop());
  const world = { storage, ledger: new UnmeteredLedger(), pricing: new Pricing(), clock: systemClock };
  const book = new JobBook(world);
  const ends: ((result: RenderResult) => void)[] = [];
  const pool = {
    size: 2,
    render: () => {
      const { promise: result, resolve } = Promise.withResolvers<RenderResult>();
      ends.push(resolve);
      return { result, stop: () => resolve({ kind: 'stopped', durationMs: 1, reason: 'canceled' }) };
    },
  } as unknown as RenderPool;
  const statuses: string[] = [];
  const dispatcher = new Dispatcher({
    ...world,
    book,
    assets,
    logger: silentLogger,
    queue: DEFAULT_QUEUE,
    previewIntervalMs: 0,
    mayBegin: () => true,
    onNoRoom: () => {},
    // Others come in at any moment, and each of them has what waits given to workers.
    onChange: ({ phase }) => {
      statuses.push(phase);
      dispatcher.dispatch();
    },
    onProgress: () => {},
    onPreview: () => {},
  });
  const request = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
  const { job } = await book.open({ owner: 'a', request, metadataJson: null, webhookUrl: null, keyId: null });
  dispatcher.start(pool, [job], { paused: false });
  const until = async (done: () => boolean) => {
    while (!done()) await new Promise(setImmediate);
  };
  await until(() => ends.length === 1);
  ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
  await until(() => ends.length === 2);
  t.equal(dispatcher.running, 1);
  await dispatcher.cancel(job);
  await until(() => dispatcher.running === 0);
  t.same(statuses, ['running', 'queued', 'running', 'failed']);
  t.match(await storage.getJob(job.jobId), { phase: 'failed', error: 'Canceled', durationMs: 1 });
  await dispatcher.stop(0);
});
