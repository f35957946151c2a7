import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../../lib/clock.ts';
import { type Claim, DataFolder, LocalSignals, type Logger, type Precedence } from '../../../lib/index.ts';
import type { Renders } from '../../../lib/jobs/attempt.ts';
import { Cancellations } from '../../../lib/jobs/cancellations.ts';
import { Discards } from '../../../lib/jobs/discards.ts';
import { Dispatcher, type DispatcherOptions } from '../../../lib/jobs/dispatcher.ts';
import type { JobRecord } from '../../../lib/jobs/job.ts';
import { JobBook } from '../../../lib/jobs/job-book.ts';
import type { JobEvents } from '../../../lib/jobs/job-events.ts';
import { Pricing } from '../../../lib/ledger/pricing.ts';
import { UnmeteredLedger } from '../../../lib/ledger/unmetered-ledger.ts';
import { silentLogger } from '../../../lib/logger.ts';
import { DEFAULT_QUEUE } from '../../../lib/queue/queue-options.ts';
import { systemRandom } from '../../../lib/random.ts';
import type { RenderResult, StopReason } from '../../../lib/render/run/render-task.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const REQUEST = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
const FIRST: Precedence = { yields: false, inGoodStanding: true };

/** A dispatcher with two workers whose renders end when the test says so, and a job of owner `a`. */
async function setUp(
  t: Test,
  logger: Logger = silentLogger,
  more: Partial<DispatcherOptions> = {},
  { isShared = false }: { isShared?: boolean } = {},
) {
  const path = t.testdir({ work: {} });
  const folder = new DataFolder(join(path, 'data'));
  await folder.start();
  t.teardown(() => folder.stop());
  const { assets } = folder;
  const storage = Object.assign(folder.storage, { isShared });
  const world = {
    storage,
    ledger: new UnmeteredLedger(),
    pricing: new Pricing(),
    clock: more.clock ?? systemClock,
  };
  const discards = new Discards({ assets, logger });
  const owners = more.owners ?? { precedenceOf: () => FIRST };
  const book = new JobBook({ ...world, owners, logger });
  const ends: ((result: RenderResult) => void)[] = [];
  const stops: StopReason[] = [];
  const pool = {
    size: 2,
    render: () => {
      const { promise: result, resolve } = Promise.withResolvers<RenderResult>();
      ends.push(resolve);
      const stop = (reason: StopReason) => {
        stops.push(reason);
        resolve({ kind: 'stopped', durationMs: 1, reason });
      };
      return { result, stop };
    },
  } as unknown as Renders;
  const signals = new LocalSignals();
  const statuses: string[] = [];
  const gate = Object.assign(new EventEmitter<{ open: [] }>(), { isOpen: true });
  const events: JobEvents = more.events ?? new EventEmitter();
  events.on('change', ({ phase, owner }) => {
    statuses.push(phase);
    if (phase === 'queued') dispatcher.added();
    if (phase === 'completed' || phase === 'failed') dispatcher.ended(owner);
    // Others come in at any moment, and each of them has it look for jobs.
    dispatcher.wake();
  });
  const options: DispatcherOptions = {
    ...world,
    book,
    assets,
    logger,
    signals,
    discards,
    owners,
    gate,
    room: undefined,
    events,
    queue: DEFAULT_QUEUE,
    previewIntervalMs: 0,
    random: systemRandom,
    ...more,
  };
  const dispatcher: Dispatcher = new Dispatcher(options);
  t.teardown(() => dispatcher.stop(0));
  const cancellations = new Cancellations({
    book,
    storage,
    signals,
    discards,
    events,
    clock: world.clock,
    logger,
  });
  const open = async (owner: string) =>
    (await book.open({ owner, request: REQUEST, metadataJson: null, webhookUrl: null, keyId: null })).job;
  const job = await open('a');
  await dispatcher.start(pool);
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
  const add = async (owner: string) => {
    const job = await open(owner);
    dispatcher.added();
    return job;
  };
  const cancel = (jobId: string) => cancellations.cancel(jobId);
  return {
    storage,
    assets,
    book,
    options,
    pool,
    gate,
    signals,
    dispatcher,
    job,
    ends,
    stops,
    until,
    statuses,
    rendered,
    add,
    cancel,
  };
}

/** Adds the owner of each job that begins to `owners`. */
function beginningsIn(owners: string[]): JobEvents {
  const events: JobEvents = new EventEmitter();
  return events.on('change', ({ owner, phase }) => void (phase === 'running' && owners.push(owner)));
}

const failedScene: RenderResult = { kind: 'failed', durationMs: 1, error: 'NameError' };

t.test('an attempt that begins before the one before it is put away counts, and can be ended', async (t) => {
  const { storage, dispatcher, job, ends, until, statuses, cancel } = await setUp(t);
  ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
  await until(() => ends.length === 2);
  t.equal(dispatcher.running, 1);
  await cancel(job.jobId);
  await until(() => dispatcher.running === 0);
  t.same(statuses, ['running', 'queued', 'running', 'failed']);
  t.match(await storage.getJob(job.jobId), { phase: 'failed', error: 'Canceled', attempts: 2 });
  await dispatcher.stop(0);
});

t.test('what an attempt stored that was then cut off, goes when the job fails', async (t) => {
  const { assets, dispatcher, job, ends, until, rendered } = await setUp(t);
  const first = rendered();
  // As a service does that is killed between storing and writing it down.
  for (const { name, path } of first.kind === 'rendered' ? first.files : []) {
    await assets.put(`${job.jobId}-1/${name}`, { path });
  }
  ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
  await until(() => ends.length === 2);
  t.ok(existsSync(assets.path(`${job.jobId}-1/video.mp4`)));
  ends[1]?.({ kind: 'failed', durationMs: 1, error: 'NameError' });
  await until(() => dispatcher.running === 0);
  await dispatcher.stop(0);
  t.notOk(existsSync(assets.path(`${job.jobId}-1/video.mp4`)));
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
  await assets.put(`${job.jobId}-1/captions.vtt`, { path: file?.path ?? '' });
  ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
  await until(() => ends.length === 2);
  ends[1]?.(rendered());
  await until(() => dispatcher.running === 0);
  t.match(await storage.getJob(job.jobId), { phase: 'completed', artifacts: [{ name: 'video.mp4' }] });
  await dispatcher.stop(0);
  t.same(readdirSync(join(assets.path(`${job.jobId}-2/video.mp4`), '..')), ['video.mp4']);
  t.notOk(existsSync(assets.path(`${job.jobId}-1/captions.vtt`)));
});

const errorOf = (code: string) => Object.assign(new Error(`${code}: no`), { code });

t.test('an attempt that the machine lacked something for is not counted, however often', async (t) => {
  const holdsMs: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (details) => holdsMs.push((details as { againInMs?: number }).againInMs),
  };
  const { gate, storage, dispatcher, job, ends, until } = await setUp(t, logger);
  for (let attempts = 1; attempts <= 4; attempts++) {
    t.match(await storage.getJob(job.jobId), { phase: 'running', attempts: 1 });
    ends[attempts - 1]?.({ kind: 'unavailable', durationMs: 0, message: 'EMFILE', isShortage: true });
    await until(() => dispatcher.running === 0);
    t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0 });
    t.ok(dispatcher.isShortage);
    t.equal(ends.length, attempts, 'it is not attempted again at once');
    gate.emit('open');
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
  const { gate, dispatcher, job, ends, until, cancel } = await setUp(t);
  ends[0]?.({ kind: 'unavailable', durationMs: 0, message: 'EMFILE', isShortage: true });
  await until(() => dispatcher.running === 0);
  await cancel(job.jobId);
  t.ok(dispatcher.isShortage);
  gate.emit('open');
  await until(() => !dispatcher.isShortage);
  await dispatcher.stop(0);
});

for (const code of ['EMFILE', 'ENFILE', 'ENOMEM', 'ECONNREFUSED']) {
  t.test(`an asset store that fails with ${code} costs no attempt`, async (t) => {
    const { gate, storage, assets, dispatcher, job, ends, until, rendered } = await setUp(t);
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
      gate.emit('open');
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
  const { storage, dispatcher, job, ends, until, cancel } = await setUp(t);
  const transaction = storage.transaction.bind(storage);
  let canceled = false;
  t.intercept(storage, 'transaction', {
    value: async (work: Parameters<typeof transaction>[0]) => {
      // Asked for when the attempt is decided on, and before that is written down.
      if (canceled) return transaction(work);
      canceled = true;
      await cancel(job.jobId);
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
    owners: { precedenceOf: (owner) => ({ yields: false, inGoodStanding: owner === 'good' }) },
    events: beginningsIn(owners),
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
    owners: { precedenceOf: () => ({ yields: false, inGoodStanding: false }) },
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

t.test('a cancelled render is over at once, and its worker is free when it has ended', async (t) => {
  const { storage, dispatcher, job, ends, stops, until, cancel, add } = await setUp(t);
  for (const owner of ['b', 'c']) await add(owner);
  await until(() => ends.length === 2);
  const canceling = cancel(job.jobId);
  await canceling;
  t.match(await storage.getJob(job.jobId), { phase: 'failed', error: 'Canceled', failedBy: 'cancel' });
  t.same(stops, ['worthless']);
  await until(() => ends.length === 3);
  t.equal(dispatcher.running, 2);
  await dispatcher.stop(0);
});

t.test('a job that is cancelled while it is claimed is not rendered to its end', async (t) => {
  const { storage, book, dispatcher, job, ends, stops, until, cancel, add } = await setUp(t);
  const claim = book.claims.claim.bind(book.claims);
  t.intercept(book.claims, 'claim', {
    value: async (...args: Parameters<typeof claim>) => {
      const claimed = await claim(...args);
      for (const { claim } of claimed) await cancel(claim.jobId);
      return claimed;
    },
  });
  const { jobId } = await add('b');
  await until(() => stops.length === 1);
  t.equal(ends.length, 2);
  await until(() => dispatcher.running === 1);
  t.match(await storage.getJob(jobId), { phase: 'failed', error: 'Canceled' });
  t.match(await storage.getJob(job.jobId), { phase: 'running' });
  await dispatcher.stop(0);
});

t.test('an attempt whose job was cancelled, or taken up by another worker, leaves nothing', async (t) => {
  for (const how of ['cancelled', 'taken up'] as const) {
    await t.test(how, async (t) => {
      const { gate, storage, assets, book, dispatcher, job, ends, until, rendered, statuses } =
        await setUp(t);
      gate.isOpen = false;
      // Without a signal: that got lost.
      if (how === 'cancelled') await book.cancel(job.jobId);
      else {
        t.intercept(storage.queue, 'lapsed', {
          value: async () => [{ jobId: job.jobId, owner: 'a', token: 1, interruptions: 0 }],
        });
        await book.claims.putBackLapsed();
      }
      const before = await storage.getJob(job.jobId);
      ends[0]?.(rendered());
      await until(() => dispatcher.running === 0);
      t.same(await storage.getJob(job.jobId), before);
      t.same(statuses, ['running'], 'it tells of no end');
      await dispatcher.stop(0);
      t.notOk(existsSync(assets.path(`${job.jobId}-1/video.mp4`)), 'what it stored is removed');
    });
  }
});

t.test('workers of several services render each job once', async (t) => {
  const { storage, options, pool, dispatcher, ends, statuses, until, add } = await setUp(t);
  const other = new Dispatcher(options);
  await other.start(pool);
  for (const owner of ['b', 'c', 'd', 'a', 'b']) await add(owner);
  await until(() => ends.length === 4);
  t.equal(dispatcher.running, 2);
  t.equal(other.running, 2);
  for (let ended = 0; ended < 6; ended++) {
    await until(() => ends.length > ended);
    ends[ended]?.(failedScene);
  }
  await until(() => dispatcher.running + other.running === 0);
  t.equal(statuses.filter((status) => status === 'failed').length, 6);
  t.match(await storage.queue.state(), { waiting: 0, running: 0 });
  await Promise.all([dispatcher.stop(0), other.stop(0)]);
});

t.test('jobs that no signal told of are found', async (t) => {
  const clock = new FakeClock('2026-11-22T10:00:00Z');
  const { book, dispatcher, ends, until } = await setUp(t, silentLogger, { clock });
  await book.open({ owner: 'b', request: REQUEST, metadataJson: null, webhookUrl: null, keyId: null });
  clock.advance(2_000);
  await until(() => ends.length === 2);
  await dispatcher.stop(0);
});

t.test(
  'an owner who yielded has a turn again when that is over, though nothing of theirs ends',
  async (t) => {
    const clock = new FakeClock('2026-11-22T10:00:00Z');
    let isSpent = true;
    const owners: string[] = [];
    const { dispatcher, ends, until, add } = await setUp(t, silentLogger, {
      owners: { precedenceOf: (owner) => ({ yields: owner === 'y' && isSpent, inGoodStanding: true }) },
      clock,
      events: beginningsIn(owners),
    });
    for (const owner of ['b', 'y', 'c', 'd']) await add(owner);
    await until(() => ends.length === 2);
    ends[0]?.(failedScene);
    await until(() => ends.length === 3);
    isSpent = false;
    clock.advance(2_000);
    await new Promise(setImmediate);
    ends[1]?.(failedScene);
    await until(() => ends.length === 4);
    t.same(owners, ['a', 'b', 'c', 'y']);
    await dispatcher.stop(0);
  },
);

t.test('claims that fail are tried again', async (t) => {
  const errors: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (_, message) => errors.push(message) };
  const { gate, book, dispatcher, ends, until, add } = await setUp(t, logger);
  const claim = book.claims.claim.bind(book.claims);
  let failures = 2;
  t.intercept(book.claims, 'claim', {
    value: async (...args: Parameters<typeof claim>) => {
      if (failures-- > 0) throw new Error('the disk is full');
      return claim(...args);
    },
  });
  await add('b');
  for (let count = 1; count <= 2; count++) {
    await until(() => errors.length === count);
    t.equal(ends.length, 1);
    gate.emit('open');
  }
  await until(() => ends.length === 2);
  t.match(errors, [/Claiming jobs failed/, /Claiming jobs failed/]);
  await dispatcher.stop(0);
});

t.test('claims are renewed, and what is lost by then is stopped', async (t) => {
  const clock = new FakeClock('2026-11-22T10:00:00Z');
  const { book, dispatcher, job, stops, until } = await setUp(t, silentLogger, { clock });
  const renewed: number[] = [];
  const renew = book.claims.renew.bind(book.claims);
  t.intercept(book.claims, 'renew', {
    value: async (claims: Claim[]) => {
      const held = await renew(claims);
      renewed.push(held.length);
      return held;
    },
  });
  clock.advance(11_000);
  await until(() => renewed.length === 1);
  await book.cancel(job.jobId); // Its signal got lost.
  clock.advance(11_000);
  await until(() => renewed.length === 2);
  t.same(renewed, [1, 0]);
  await until(() => dispatcher.running === 0);
  t.same(stops, ['worthless']);
  await dispatcher.stop(0);
});

t.test('a worker that can’t renew its claims ends its renders where others may take them up', async (t) => {
  for (const isShared of [true, false]) {
    await t.test(isShared ? 'shared' : 'its own', async (t) => {
      const clock = new FakeClock('2026-11-22T10:00:00Z');
      const { gate, storage, book, dispatcher, job, stops, until } = await setUp(
        t,
        silentLogger,
        { clock },
        { isShared },
      );
      t.intercept(book.claims, 'renew', { value: () => Promise.reject(new Error('not connected')) });
      gate.isOpen = false;
      for (const stopped of [0, 0, 0, isShared ? 1 : 0]) {
        clock.advance(5_001);
        await new Promise(setImmediate);
        t.equal(stops.length, stopped);
      }
      if (isShared) {
        await until(() => dispatcher.running === 0);
        t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0 });
      } else t.equal(dispatcher.running, 1);
      await dispatcher.stop(0);
    });
  }
});
