import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { KEEP_ALL, retain } from '../../../lib/assets/retention.ts';
import { DataFolder } from '../../../lib/index.ts';
import type { JobRecord } from '../../../lib/model/job.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const DAY_MS = 86_400_000;

/** Completed jobs, one a day, with a video of 100 bytes each. */
async function folderWithJobs(t: Test, count: number) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const jobs: JobRecord[] = [];
  for (let number = 1; number <= count; number++) {
    const jobId = `job${number}`;
    const assetKey = `${jobId}/video.mp4`;
    const path = join(folder.path, 'a-video');
    writeFileSync(path, 'v'.repeat(100));
    await folder.assets.put(assetKey, { path });
    const job = jobRecord(jobId, {
      phase: 'completed',
      completedAtMs: clock.now() - (count - number) * DAY_MS,
      artifacts: [{ name: 'video.mp4', assetKey, sizeBytes: 100 }],
    });
    await folder.storage.transaction((tx) => folder.storage.insertJob(tx, job, 'x'));
    jobs.push(job);
  }
  const left = () =>
    jobs.filter(({ jobId }) => existsSync(folder.assets.path(`${jobId}/video.mp4`))).map((job) => job.jobId);
  return { folder, clock, left, world: { storage: folder.storage, assets: folder.assets, clock } };
}

t.test('all artifacts are kept by default', async (t) => {
  const { world, left } = await folderWithJobs(t, 3);
  t.equal(await retain(world, KEEP_ALL), 0);
  t.same(left(), ['job1', 'job2', 'job3']);
});

t.test('artifacts are removed by age, job records are kept', async (t) => {
  const { world, left, folder, clock } = await folderWithJobs(t, 4);
  t.equal(await retain(world, { ...KEEP_ALL, maxAgeDays: 1.5 }), 2);
  t.same(left(), ['job3', 'job4']);
  t.match(await folder.storage.getJob('job1'), { phase: 'completed', artifacts: [{ name: 'video.mp4' }] });
  clock.advance(DAY_MS);
  t.equal(await retain(world, { ...KEEP_ALL, maxAgeDays: 1.5 }), 1);
});

t.test('the index of a video is removed with it', async (t) => {
  const { world, folder } = await folderWithJobs(t, 2);
  const path = join(folder.path, 'an-index');
  writeFileSync(path, 'i');
  for (const jobId of ['job1', 'job2']) await folder.assets.put(`${jobId}/video.index`, { path });
  t.equal(await retain(world, { ...KEEP_ALL, maxAgeDays: 0.5 }), 1);
  t.notOk(existsSync(folder.assets.path('job1/video.index')));
  t.ok(existsSync(folder.assets.path('job2/video.index')));
});

t.test('artifacts are removed by total size, the oldest first', async (t) => {
  const { world, left } = await folderWithJobs(t, 4);
  t.equal(await retain(world, { ...KEEP_ALL, maxTotalBytes: 250 }), 2);
  t.same(left(), ['job3', 'job4']);
  t.equal(await retain(world, { ...KEEP_ALL, maxTotalBytes: 250 }), 0);
});

t.test('artifacts that cannot be removed do not block the removal of others', async (t) => {
  const { world, folder, left } = await folderWithJobs(t, 4);
  const remove = folder.assets.delete.bind(folder.assets);
  folder.assets.delete = async (assetKey) => {
    if (assetKey.startsWith('job1/')) throw new Error('EPERM: operation not permitted');
    await remove(assetKey);
  };
  const refused = { message: /could not be removed: job1\./, cause: { message: /EPERM/ } };
  await t.rejects(retain(world, { ...KEEP_ALL, maxAgeDays: 1.5 }), refused);
  t.same(left(), ['job1', 'job3', 'job4']);
  await t.rejects(retain(world, { ...KEEP_ALL, maxTotalBytes: 250 }), refused);
  t.same(left(), ['job1', 'job4']);
  folder.assets.delete = remove;
  t.equal(await retain(world, { ...KEEP_ALL, maxAgeDays: 1.5 }), 1);
});
