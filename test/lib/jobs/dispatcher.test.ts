import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../../lib/clock.ts';
import { DataFolder, type Logger } from '../../../lib/index.ts';
import { DEFAULT_QUEUE, Dispatcher, type DispatcherOptions } from '../../../lib/jobs/dispatcher.ts';
import type { JobRecord } from '../../../lib/jobs/job.ts';
import { JobBook } from '../../../lib/jobs/job-book.ts';
import { Pricing } from '../../../lib/ledger/pricing.ts';
import { UnmeteredLedger } from '../../../lib/ledger/unmetered-ledger.ts';
import { silentLogger } from '../../../lib/logger.ts';
import type { RenderPool } from '../../../lib/render/render-pool.ts';
import type { RenderResult } from '../../../lib/render/render-task.ts';

const REQUEST = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;

/** A dispatcher with two workers whose renders end when the test says so, and a job of owner `a`. */
async function setUp(t: Test, logger: Logger = silentLogger, more: Partial<DispatcherOptions> = {}) {
  const path = t.testdir({ work: {} });
  const folder = new DataFolder(join(path, 'data'));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage, assets } = folder;
  const world = { storage, ledger: new UnmeteredLedger(), pricing: new Pricing(), clock: systemClock };
  const book = new JobBook({ ...world, onOrphans: (assetKeys) => dispatcher.discardLater(assetKeys) });
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
  const dispatcher: Dispatcher = new Dispatcher({
    ...world,
    book,
    assets,
    logger,
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
    ...more,
  });
  const open = (owner: string) =>
    book.open({ owner, request: REQUEST, metadataJson: null, webhookUrl: null, keyId: null });
  const { job } = await open('a');
  dispatcher.start(pool, [job], { paused: false });
  const until = async (done: () => boolean) => {
    while (!done()) await new Promise(setImmediate);
  };
  await until(() => ends.length === 1);
  /** What a render leaves that went well. */
  const rendered = (): RenderResult => {
    const folder = join(path, 'work', String(ends.length));
    mkdirSync(folder);
    const file = join(folder, 'video.mp4');
    writeFileSync(file, 'a video');
    const files = [{ name: 'video.mp4' as const, path: file }];
    return { kind: 'rendered', durationMs: 1, seconds: 1, frames: 1, files, folder };
  };
  const add = async (owner: string) => dispatcher.add((await open(owner)).job);
  return { storage, assets, dispatcher, job, ends, until, statuses, rendered, add };
}

t.test('an attempt that begins before the one before it is put away counts, and can be ended', async (t) => {
  const { storage, dispatcher, job, ends, until, statuses } = await setUp(t);
  ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
  await until(() => ends.length === 2);
  t.equal(dispatcher.running, 1);
  await dispatcher.cancel(job);
  await until(() => dispatcher.running === 0);
  t.same(statuses, ['running', 'queued', 'running', 'failed']);
  t.match(await storage.getJob(job.jobId), { phase: 'failed', error: 'Canceled', durationMs: 1 });
  await dispatcher.stop(0);
});

t.test('what an attempt stored that was then cut off, goes when the job fails', async (t) => {
  const { assets, dispatcher, job, ends, until, rendered } = await setUp(t);
  const first = rendered();
  // As a service does that is killed between storing and writing it down.
  for (const { name, path } of first.kind === 'rendered' ? first.files : []) {
    await assets.put(`${job.jobId}/${name}`, { path });
  }
  ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
  await until(() => ends.length === 2);
  t.ok(existsSync(assets.path(`${job.jobId}/video.mp4`)));
  ends[1]?.({ kind: 'failed', durationMs: 1, error: 'NameError' });
  await until(() => dispatcher.running === 0);
  await dispatcher.stop(0);
  t.notOk(existsSync(assets.path(`${job.jobId}/video.mp4`)));
});

for (const [how, deletion] of [
  ['never answers', () => new Promise<void>(() => {})],
  [
    'throws',
    () => {
      throw new Error('not connected');
    },
  ],
] as const) {
  t.test(`an asset store that ${how} when told to remove keeps no job from ending`, async (t) => {
    const { assets, dispatcher, ends, until, statuses } = await setUp(t);
    t.intercept(assets, 'delete', { value: deletion });
    ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
    await until(() => ends.length === 2);
    ends[1]?.({ kind: 'failed', durationMs: 1, error: 'NameError' });
    await until(() => dispatcher.running === 0);
    t.equal(statuses.at(-1), 'failed');
  });
}

t.test('a scene that fails at its first attempt is told at once, the asset store unasked', async (t) => {
  const { storage, assets, dispatcher, job, ends, until } = await setUp(t);
  t.intercept(assets, 'delete', {
    value: async (assetKey: string) => t.fail(`nothing was stored at ${assetKey}`),
  });
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'NameError' });
  await until(() => dispatcher.running === 0);
  t.match(await storage.getJob(job.jobId), { phase: 'failed', error: 'NameError' });
  await dispatcher.stop(0);
});

t.test('a job that completes keeps what it refers to, and nothing of an earlier attempt', async (t) => {
  const { storage, assets, dispatcher, job, ends, until, rendered } = await setUp(t);
  const [file] = (rendered() as Extract<RenderResult, { kind: 'rendered' }>).files;
  await assets.put(`${job.jobId}/captions.vtt`, { path: file?.path ?? '' });
  ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
  await until(() => ends.length === 2);
  ends[1]?.(rendered());
  await until(() => dispatcher.running === 0);
  t.match(await storage.getJob(job.jobId), { phase: 'completed', artifacts: [{ name: 'video.mp4' }] });
  await dispatcher.stop(0);
  t.same(readdirSync(join(assets.path(`${job.jobId}/video.mp4`), '..')), ['video.mp4']);
});

const errorOf = (code: string) => Object.assign(new Error(`${code}: no`), { code });

t.test('an attempt that the machine lacked something for is not counted, however often', async (t) => {
  const holdsMs: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (details) => holdsMs.push((details as { againInMs?: number }).againInMs),
  };
  const { storage, dispatcher, job, ends, until } = await setUp(t, logger);
  for (let attempts = 1; attempts <= 4; attempts++) {
    t.match(await storage.getJob(job.jobId), { phase: 'running', attempts: 1 });
    ends[attempts - 1]?.({ kind: 'unavailable', durationMs: 0, message: 'EMFILE', isShortage: true });
    await until(() => dispatcher.running === 0);
    t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0 });
    t.ok(dispatcher.isShortage);
    t.equal(ends.length, attempts, 'it is not attempted again at once');
    dispatcher.resumeBeginning();
    await until(() => ends.length === attempts + 1);
  }
  t.same(holdsMs, [1000, 2000, 4000, 8000], 'it waits longer each time');
  ends.at(-1)?.({ kind: 'failed', durationMs: 1, error: 'NameError' });
  await until(() => dispatcher.running === 0);
  t.notOk(dispatcher.isShortage, 'an attempt that was made ends the shortage');
  t.match(await storage.getJob(job.jobId), { phase: 'failed', attempts: 1 });
  await dispatcher.stop(0);
});

t.test('a shortage is over when no job waits that could show its end', async (t) => {
  const { dispatcher, job, ends, until } = await setUp(t);
  ends[0]?.({ kind: 'unavailable', durationMs: 0, message: 'EMFILE', isShortage: true });
  await until(() => dispatcher.running === 0);
  await dispatcher.cancel(job);
  dispatcher.resumeBeginning();
  t.notOk(dispatcher.isShortage);
  await dispatcher.stop(0);
});

for (const code of ['EMFILE', 'ENFILE', 'ENOMEM', 'ECONNREFUSED']) {
  t.test(`an asset store that fails with ${code} costs no attempt`, async (t) => {
    const { storage, assets, dispatcher, job, ends, until, rendered } = await setUp(t);
    let failures = 2;
    const put = assets.put.bind(assets);
    t.intercept(assets, 'put', {
      value: async (assetKey: string, file: { path: string }) => {
        if (failures-- > 0) throw new Error('it failed', { cause: errorOf(code) });
        return put(assetKey, file);
      },
    });
    for (let attempts = 1; attempts <= 2; attempts++) {
      ends[attempts - 1]?.(rendered());
      await until(() => dispatcher.running === 0);
      t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0 });
      t.ok(dispatcher.isShortage);
      dispatcher.resumeBeginning();
      await until(() => ends.length === attempts + 1);
    }
    ends[2]?.(rendered());
    await until(() => dispatcher.running === 0);
    t.match(await storage.getJob(job.jobId), { phase: 'completed', attempts: 1 });
    await dispatcher.stop(0);
  });
}

t.test('artifacts that are gone after the render leave no job running', async (t) => {
  const { storage, dispatcher, job, ends, until, rendered } = await setUp(t);
  for (let attempts = 1; attempts <= 2; attempts++) {
    await until(() => ends.length === attempts);
    const result = rendered();
    if (result.kind === 'rendered') rmSync(result.folder, { recursive: true });
    ends[attempts - 1]?.(result);
  }
  await until(() => dispatcher.running === 0);
  t.match(await storage.getJob(job.jobId), {
    phase: 'failed',
    attempts: 2,
    failedBy: 'service',
    error: /could not store it.*no fault of the scene/,
  });
  await dispatcher.stop(0);
});

t.test('a job waits again when the end of its attempt can not be carried out', async (t) => {
  let failures = 1;
  const logger: Logger = {
    ...silentLogger,
    warn: () => {
      if (failures-- > 0) throw new Error('the log is full');
    },
  };
  const { storage, dispatcher, job, ends, until } = await setUp(t, logger);
  ends[0]?.({ kind: 'unavailable', durationMs: 0, message: 'no renderer' });
  await until(() => dispatcher.running === 0);
  t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0, interruptions: 1 });
  await dispatcher.stop(0);
});

t.test('a renderer that dies because the whole service is told to stop counts for nothing', async (t) => {
  const { storage, dispatcher, job, ends } = await setUp(t);
  // The signal reaches the renderer before the service has heard of it.
  ends[0]?.({ kind: 'died', durationMs: 1, message: 'it ended by SIGINT' });
  await new Promise(setImmediate);
  await dispatcher.stop(1_000);
  t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0 });
});

t.test('a worker thread that dies is an interruption, and no attempt', async (t) => {
  const { storage, dispatcher, job, ends, until } = await setUp(t);
  ends[0]?.({ kind: 'interrupted', durationMs: 0, message: 'out of memory' });
  await until(() => ends.length === 2);
  t.match(await storage.getJob(job.jobId), { phase: 'running', attempts: 1, interruptions: 1 });
  ends[1]?.({ kind: 'interrupted', durationMs: 0, message: 'out of memory' });
  await until(() => dispatcher.running === 0);
  t.equal(dispatcher.queued, 1, 'a second time, it has to wait');
  t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0, interruptions: 2 });
  await dispatcher.stop(0);
});

t.test('a job that is canceled while it is put back ends', async (t) => {
  const { storage, dispatcher, job, ends, until } = await setUp(t);
  const transaction = storage.transaction.bind(storage);
  let canceled = false;
  t.intercept(storage, 'transaction', {
    value: async (work: Parameters<typeof transaction>[0]) => {
      // Asked for when the attempt is decided on, and before that is written down.
      if (canceled) return transaction(work);
      canceled = true;
      await dispatcher.cancel(job);
      return transaction(work);
    },
  });
  ends[0]?.({ kind: 'unavailable', durationMs: 0, message: 'no renderer' });
  await until(() => dispatcher.running === 0);
  t.match(await storage.getJob(job.jobId), { phase: 'failed', error: 'Canceled' });
  t.equal(dispatcher.queued, 0);
  await dispatcher.stop(0);
});

t.test('one of two workers is kept for owners in good standing', async (t) => {
  const owners: string[] = [];
  const { dispatcher, ends, until, add } = await setUp(t, silentLogger, {
    queue: { ...DEFAULT_QUEUE, reservedWorkers: 1 },
    inGoodStanding: (owner) => owner === 'good',
    onChange: ({ owner, phase }) => phase === 'running' && owners.push(owner),
  });
  await add('b');
  await add('good');
  await until(() => ends.length === 2);
  t.same(owners, ['a', 'good'], 'the others wait while one of them is rendered');
  await add('good');
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'x' });
  await until(() => ends.length === 3);
  t.same(owners, ['a', 'good', 'b'], 'they have the other worker, in turns');
  ends[1]?.({ kind: 'failed', durationMs: 1, error: 'x' });
  await until(() => ends.length === 4);
  t.same(owners, ['a', 'good', 'b', 'good']);
  for (const end of ends) end({ kind: 'failed', durationMs: 1, error: 'x' });
  await dispatcher.stop(0);
});

t.test('one worker always serves all owners', async (t) => {
  const { dispatcher, ends, until, add } = await setUp(t, silentLogger, {
    queue: { ...DEFAULT_QUEUE, reservedWorkers: 100 },
    inGoodStanding: () => false,
  });
  await add('b');
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'x' });
  await until(() => ends.length === 2);
  t.equal(dispatcher.running, 1);
  ends[1]?.({ kind: 'failed', durationMs: 1, error: 'x' });
  await dispatcher.stop(0);
});

t.test('attempts that end while it stops leave no timers behind', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  for (const end of ['unavailable', 'died'] as const) {
    const { storage, dispatcher, job, ends } = await setUp(t);
    // Interrupted so often, it waits before it begins again.
    const running = await storage.getJob(job.jobId);
    await storage.transaction((tx) => storage.updateJob(tx, { ...(running as JobRecord), interruptions: 9 }));
    const before = timers();
    const stopped = dispatcher.stop(1_000);
    ends[0]?.({ kind: end, durationMs: 0, message: 'as it was told' });
    await stopped;
    t.equal(timers(), before, end);
    t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0 });
  }
});

t.test('a full queue has places for an owner with less than an equal share', async (t) => {
  const { dispatcher, ends, add } = await setUp(t, silentLogger, {
    queue: { ...DEFAULT_QUEUE, maxQueued: 6 },
  });
  dispatcher.pause();
  while (dispatcher.queued < 6) await add('greedy');
  t.throws(() => dispatcher.assertRoom('greedy'), { code: 'queue_full' });
  for (let count = 0; count < 3; count += 1) {
    dispatcher.assertRoom('modest');
    await add('modest');
  }
  t.throws(() => dispatcher.assertRoom('modest'), { code: 'queue_full' }, 'half of the places are its share');
  dispatcher.assertRoom('third');
  for (const end of ends) end({ kind: 'failed', durationMs: 1, error: 'x' });
  await dispatcher.stop(0);
});
