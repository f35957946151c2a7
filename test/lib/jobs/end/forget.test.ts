import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder } from '../../../../lib/index.ts';
import { FORGOTTEN, forgetJob, forgetJobsOf } from '../../../../lib/jobs/end/forget.ts';
import type { JobRecord } from '../../../../lib/model/job.ts';
import { FileRemoval } from '../../../../lib/owner-files/file-removal.ts';
import type { DeliveryAttempt } from '../../../../lib/storage/delivery.ts';
import { deliveryRecord } from '../../../fixtures/delivery-record.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';

/** The storage of a job with an artifact, and of its delivery, which is being attempted for the second time. */
async function storedJob(t: Test, change: Partial<JobRecord> = {}) {
  const folder = new DataFolder(join(testFolder(t), 'data'));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const artifacts = [{ name: 'video.mp4' as const, assetKey: '1-2/video.mp4', sizeBytes: 1 }];
  const job = jobRecord('1', { owner: 'ada', phase: 'completed', token: 2, artifacts, ...change });
  const attempts = [
    { startedAtMs: 1, endedAtMs: 2, status: 500, reason: null },
    { startedAtMs: 3, endedAtMs: null, status: 0, reason: null },
  ] as DeliveryAttempt[];
  const delivery = deliveryRecord('d1', { jobId: '1', url: 'https://a.test/secret?a=b', attempts });
  await storage.transaction(async (tx) => {
    await storage.insertJob(tx, job, 'code');
    await storage.deliveries.insert(tx, delivery, 'body');
    const other = deliveryRecord('d2', { jobId: '2', url: 'https://b.test/secret' });
    await storage.deliveries.insert(tx, other, 'another body');
  });
  const deleted: string[] = [];
  const assets = Object.assign(Object.create(folder.assets), {
    delete: async (key: string) => void deleted.push(key),
  });
  const kept = async () => {
    const ids: string[] = [];
    for await (const { jobId } of storage.jobsWithArtifacts()) ids.push(jobId);
    return ids;
  };
  const fileRemoval = new FileRemoval({ storage, assets, clock });
  return { world: { storage, assets, clock, fileRemoval }, storage, clock, job, delivery, deleted, kept };
}

t.test('a completed job keeps nothing but cost, times and owner', async (t) => {
  const { world, storage, clock, job, deleted, kept } = await storedJob(t);
  t.same(await kept(), ['1']);
  const forgotten = await forgetJob(world, job);
  t.match(forgotten, { className: '', metadataJson: null, webhookUrl: null, error: null });
  t.equal(forgotten.forgottenAtMs, clock.now());
  t.same(await storage.getJob('1'), forgotten);
  t.same(await kept(), [], 'retention does not look for its artifacts');
  t.ok(deleted.includes('1-2/video.mp4'));
  t.ok(deleted.includes('1-1/video.mp4'), 'artifacts of earlier attempts, too');
  clock.advance(1_000);
  t.equal((await forgetJob(world, forgotten)).forgottenAtMs, forgotten.forgottenAtMs);
});

t.test('the error of a failed job is replaced, what it failed by is kept', async (t) => {
  const change = { phase: 'failed', error: 'line 1: secret', failedBy: 'tex', artifacts: [] } as const;
  const { world, job, storage } = await storedJob(t, { ...change, artifacts: [] });
  t.equal((await forgetJob(world, job)).error, FORGOTTEN);
  t.match(await storage.getJob('1'), { error: FORGOTTEN, failedBy: 'tex' });
});

t.test('an attempt at its delivery in progress is interrupted, earlier ones are kept', async (t) => {
  const { world, storage, clock, job, delivery } = await storedJob(t);
  await forgetJob(world, job);
  const [ended, running] = delivery.attempts;
  t.match(await storage.deliveries.get('d1'), {
    url: 'https://a.test',
    dueAtMs: null,
    attempts: [ended, { ...running, endedAtMs: clock.now(), reason: 'interrupted' }],
  });
  t.equal(await storage.deliveries.readBody('d1'), undefined);
  t.match(await storage.deliveries.get('d2'), { url: 'https://b.test/secret', dueAtMs: 0 }, 'not of others');
});

t.test('a delivery that is committed meanwhile is forgotten in a second step, others once', async (t) => {
  for (const isLate of [true, false]) {
    const { world, storage, job } = await storedJob(t);
    const { list, forget } = storage.deliveries;
    let isFirst = true;
    t.intercept(storage.deliveries, 'list', {
      value: async (...args: Parameters<typeof list>) => {
        const isHidden = isLate && isFirst;
        isFirst = false;
        return isHidden ? [] : list.apply(storage.deliveries, args);
      },
    });
    const forgotten: string[] = [];
    t.intercept(storage.deliveries, 'forget', {
      value: async (...args: Parameters<typeof forget>) => {
        forgotten.push(args[1].deliveryId);
        return forget.apply(storage.deliveries, args);
      },
    });
    let transactions = 0;
    const transaction = storage.transaction.bind(storage);
    t.intercept(storage, 'transaction', {
      value: async (work: Parameters<typeof transaction>[0]) => {
        transactions += 1;
        return transaction(work);
      },
    });
    await forgetJob(world, job);
    t.same(forgotten, ['d1']);
    t.equal(transactions, isLate ? 2 : 1);
  }
});

t.test('only unfinished jobs of an owner are canceled', async (t) => {
  const { world, storage } = await storedJob(t);
  await storage.transaction(async (tx) => {
    await storage.insertJob(tx, jobRecord('2', { owner: 'ada', phase: 'queued' }), 'code');
    await storage.insertJob(tx, jobRecord('3', { owner: 'bob', phase: 'queued' }), 'code');
  });
  const canceled: string[] = [];
  const cancel = async (jobId: string) => {
    canceled.push(jobId);
    const job = (await storage.getJob(jobId)) as JobRecord;
    const failed: JobRecord = { ...job, phase: 'failed', error: 'Canceled', completedAtMs: 1, durationMs: 0 };
    await storage.transaction((tx) => storage.updateJob(tx, failed));
  };
  t.equal(await forgetJobsOf('ada', world, cancel), 2);
  t.same(canceled, ['2']);
  t.match(await storage.getJob('2'), { className: '', error: FORGOTTEN });
  t.notMatch(await storage.getJob('3'), { className: '' });
});
