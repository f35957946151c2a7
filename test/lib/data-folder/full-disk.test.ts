import { execFileSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  DataFolder,
  FileAssetStore,
  type Job,
  RenderService,
  type RenderServiceOptions,
  StoredLedger,
} from '../../../lib/index.ts';
import { fill, fillWithFiles, smallDisk } from '../../fixtures/small-disk.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';
import { settled } from '../../simulator/settled.ts';

const MIB = 1024 * 1024;
/** For one worker: 1 MiB for its job and 2 MiB for everything else. */
const SPARE_BYTES = 3 * MIB;
const python = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');

const skip = process.getuid?.() === 0 ? false : 'only root may mount a disk';

/** A service on a small disk with a running job. Scenes with `linger` run until `letGo` is called. */
async function crowdedService(t: Test, disk: string, options: Partial<RenderServiceOptions> = {}) {
  const errors: string[] = [];
  const note = (_details: object, message: string) => void errors.push(message);
  const dataFolder = new DataFolder(join(disk, 'data'), { spareSpace: { lookAgainMs: 50 } });
  await dataFolder.start();
  const ledger = new StoredLedger({ store: dataFolder.ledgerStore });
  const service = new RenderService({
    dataFolder,
    ledger,
    workers: 1,
    renderer: { python, insecureNoSandbox: true },
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: note },
    ...options,
  });
  t.teardown(() => service.stop());
  await service.start();
  const enqueue = (code: string) => service.enqueue({ owner: 'ada', code, className: 'A', quality: 'low' });
  const begun = (jobId: string) =>
    new Promise<void>((resolve) => {
      const onJob = (job: Job) => {
        if (job.jobId !== jobId || job.status !== 'running') return;
        service.off('job', onJob);
        resolve();
      };
      service.on('job', onJob);
    });
  const { jobId } = await enqueue('linger');
  await begun(jobId);
  const letGo = () => writeFileSync(join(disk, 'data', 'work', 'w0', 'go'), '');
  return { service, ledger, dataFolder, enqueue, running: jobId, letGo, errors };
}

/** Enqueues jobs until one is rejected. Returns the accepted ones. */
async function enqueueUntilFull(t: Test, enqueue: (code: string) => Promise<Job>): Promise<Job[]> {
  const accepted: Job[] = [];
  for (;;) {
    try {
      accepted.push(await enqueue(`# ${'x'.repeat(100_000)}`));
    } catch (error) {
      t.match(error, { code: 'storage_full' });
      return accepted;
    }
  }
}

/** Resolves with the job when it is queued again. */
function untilQueued(service: RenderService, jobId: string): Promise<Job> {
  return new Promise((resolve) => {
    service.on('job', function onJob(job) {
      if (job.jobId !== jobId || job.status !== 'queued') return;
      service.off('job', onJob);
      resolve(job);
    });
  });
}

async function untilNotFull(service: RenderService): Promise<void> {
  await until(() => !service.status().diskFull);
}

t.test(
  'on a full disk running jobs end, no job starts, jobs can be read; queued jobs continue once there is space',
  { skip },
  async (t) => {
    const disk = smallDisk(t, 24) as string;
    const assets = new FileAssetStore(testFolder(t));
    const { service, ledger, dataFolder, enqueue, running, letGo, errors } = await crowdedService(t, disk, {
      assets,
    });
    const spare = join(dataFolder.path, 'spare-space');
    t.equal(statSync(spare).size, SPARE_BYTES);
    t.ok(service.status().ready);

    const filler = fill(disk);
    const accepted = await enqueueUntilFull(t, enqueue);
    t.match(service.status(), { ready: false, diskFull: true });
    t.notOk(existsSync(spare), 'the spare file is removed');
    for (let i = 0; i < 20; i++) await t.rejects(enqueue('x'), { code: 'storage_full' });
    t.equal(errors.filter((message) => message.includes('The disk is full')).length, 1, 'it is logged once');

    t.match(await service.get(running), { status: 'running' });
    t.equal((await service.list({ owner: 'ada' })).length, 1 + accepted.length);
    t.equal((await ledger.balance('ada')).total, 1000 - 5 * (1 + accepted.length));
    t.equal((await ledger.balance('somebody new')).total, 1000);

    letGo();
    t.match(
      await service.wait(running),
      { status: 'completed', creditsCost: Number },
      'the running job is settled',
    );
    const [canceled] = accepted;
    if (canceled) t.match(await service.cancel(canceled.jobId), { status: 'failed', error: 'Canceled' });
    await settled();
    const waiting = await service.list({ status: 'queued' });
    t.equal(waiting.length, Math.max(0, accepted.length - 1), 'no queued job starts');

    filler.free();
    await untilNotFull(service);
    t.equal(statSync(spare).size, SPARE_BYTES, 'the spare file exists again');
    t.match(await service.wait((await enqueue('x')).jobId), { status: 'completed' });
    for (const { jobId } of waiting) t.match(await service.wait(jobId), { status: 'completed' });
    t.same((await ledger.audit()).problems, []);
  },
);

t.test(
  'a scene that runs out of space is rendered again once there is space, and no attempt is counted',
  { skip },
  async (t) => {
    const disk = smallDisk(t, 48) as string;
    const { service, ledger, enqueue, running, letGo } = await crowdedService(t, disk);
    await service.cancel(running);
    const { jobId } = await enqueue('linger large');
    const filler = fill(disk);
    filler.leave(MIB);
    const waiting = untilQueued(service, jobId);
    letGo();
    t.match(await waiting, { attempts: 0, error: null });
    t.match(service.status(), { diskFull: true, problems: [{ part: 'disk', message: /The disk is full/ }] });
    t.equal((await ledger.balance('ada')).total, 995, 'its reserve is kept');
    filler.free();
    t.match(await service.wait(jobId), { status: 'completed', attempts: 1 });
  },
);

for (const [what, freeMib] of [
  // There is enough space for the scene's video, but not for its copy in the store.
  ['a video that does not fit', 20],
  ['a scene that runs out of space', 14],
] as const) {
  t.test(`${what} stops no others while there is space for them`, { skip }, async (t) => {
    const disk = smallDisk(t, 64) as string;
    const { service, ledger, enqueue, running, letGo } = await crowdedService(t, disk);
    await service.cancel(running);
    const [first, second] = [await enqueue('linger huge'), await enqueue('huge')];
    const filler = fill(disk);
    filler.leave(freeMib * MIB);
    const waiting = untilQueued(service, first.jobId);
    letGo();
    t.match(await waiting, { attempts: 0, error: null });
    for (let i = 0; i < 5; i++) {
      t.match(await service.wait((await enqueue('x')).jobId), { status: 'completed', attempts: 1 });
      t.match(service.status(), { ready: true, diskFull: false });
    }
    t.match(await service.get(first.jobId), { attempts: Number, error: null, completedAt: null });
    await service.cancel(second.jobId);
    t.match(await service.wait((await enqueue('x')).jobId), { status: 'completed' });
    filler.free();
    t.match(await service.wait(first.jobId), { status: 'completed', attempts: 1 });
    t.same((await ledger.audit()).problems, []);
  });
}

t.test('a lack of inodes is reported as such, and jobs wait until there are some', { skip }, async (t) => {
  const disk = smallDisk(t, 24, 300) as string;
  const { service, enqueue, running } = await crowdedService(t, disk);
  await service.cancel(running);
  await until(() => service.status().running === 0);
  const free = fillWithFiles(disk);
  const { jobId } = await enqueue('x');
  t.match(await untilQueued(service, jobId), { attempts: 0 });
  t.match(service.status(), {
    diskFull: true,
    problems: [{ part: 'disk', message: /no free inodes.*Remove files/ }],
  });
  t.equal(service.status().problems.length, 1);
  free();
  t.match(await service.wait(jobId), { status: 'completed', attempts: 1 });
  t.match(service.status(), { ready: true, problems: [] });
});

t.test('a running job can be canceled on a full disk', { skip }, async (t) => {
  const disk = smallDisk(t, 24) as string;
  const { service, ledger, running } = await crowdedService(t, disk);
  fill(disk);
  t.match(await service.cancel(running), { status: 'failed', error: 'Canceled', attempts: 1 });
  t.equal((await ledger.balance('ada')).total, 1000);
});

t.test('a service that starts on a full disk serves its jobs and waits for space', { skip }, async (t) => {
  const disk = smallDisk(t, 24) as string;
  const first = await crowdedService(t, disk);
  await first.service.stop();
  const filler = fill(disk);
  await first.service.start();
  t.match(await first.service.get(first.running), { status: /queued|running/ }, 'the job is recovered');
  await enqueueUntilFull(t, first.enqueue);
  await first.service.stop();
  filler.free();
  await first.service.start();
  first.letGo();
  t.match(await first.service.wait(first.running), { status: 'completed' });
});

t.test('a service starts on a disk that can hold no more files, and waits for them', { skip }, async (t) => {
  const disk = smallDisk(t, 24, 200) as string;
  const { service, enqueue, running } = await crowdedService(t, disk);
  await service.stop();
  const free = fillWithFiles(disk);
  await service.start();
  t.match(service.status(), { ready: false, diskFull: true });
  t.match(await service.get(running), { status: /queued|running/ });
  await t.rejects(enqueue('x'), { code: 'storage_full' });
  free();
  await untilNotFull(service);
  await service.cancel(running);
  t.match(await service.wait((await enqueue('x')).jobId), { status: 'completed' });
});

t.test('a stop in a shortage keeps space for the next start', { skip }, async (t) => {
  const disk = smallDisk(t, 24) as string;
  const { service, enqueue, running } = await crowdedService(t, disk);
  fill(disk);
  await enqueueUntilFull(t, enqueue);
  // Others take the space that was released.
  execFileSync('sh', ['-c', 'cat /dev/zero > "$0" || true', join(disk, 'others')], { stdio: 'ignore' });
  await service.stop();
  execFileSync('sh', ['-c', 'cat /dev/zero > "$0" || true', join(disk, 'more')], { stdio: 'ignore' });
  await service.start();
  t.match(service.status(), { ready: false, diskFull: true });
  t.match(await service.get(running), { status: /queued|running/ });
});
