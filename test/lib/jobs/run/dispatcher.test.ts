import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import { systemRandom } from '../../../../lib/base/random.ts';
import { DataFolder, type Ledger, LocalSignals, type Logger, type Signals } from '../../../../lib/index.ts';
import { Cancellations } from '../../../../lib/jobs/end/cancellations.ts';
import { Discards } from '../../../../lib/jobs/end/discards.ts';
import type { Renders } from '../../../../lib/jobs/run/attempt.ts';
import { Dispatcher, type DispatcherOptions } from '../../../../lib/jobs/run/dispatcher.ts';
import { LEASE_MS } from '../../../../lib/jobs/run/job-claims.ts';
import { ShortRuns } from '../../../../lib/jobs/run/short-runs.ts';
import { Pricing } from '../../../../lib/ledger/pricing.ts';
import { UnmeteredLedger } from '../../../../lib/ledger/unmetered-ledger.ts';
import type { JobRecord } from '../../../../lib/model/job.ts';
import type { JobEvents } from '../../../../lib/model/job-events.ts';
import type { RenderResult, StopReason } from '../../../../lib/model/render-task.ts';
import type { RenderEvents } from '../../../../lib/render/pool/render-pool.ts';
import { TexInstallation } from '../../../../lib/render/tex/tex-installation.ts';
import type { Claim, Precedence } from '../../../../lib/storage/queue/queue.ts';
import { DEFAULT_QUEUE } from '../../../../lib/storage/queue/queue-options.ts';
import { systemClock } from '../../../../lib/time/clock.ts';
import { DistantLedger } from '../../../fixtures/distant-ledger.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { JobBook } from '../../../fixtures/job-book.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';
import { until } from '../../../fixtures/until.ts';

const REQUEST = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
/** How long each render has taken so far. */
const RUNNING_MS = 4_000;
const FIRST: Precedence = { yields: false, inGoodStanding: true };

/** A dispatcher with two workers, whose renders the test ends, and a running job of owner `a`. */
async function setUp(
  t: Test,
  logger: Logger = silentLogger,
  more: Partial<DispatcherOptions> = {},
  { isShared = false, wakesOften = true }: { isShared?: boolean; wakesOften?: boolean } = {},
) {
  const path = testFolder(t, { work: {} });
  const folder = new DataFolder(join(path, 'data'));
  await folder.start();
  t.teardown(() => folder.stop());
  const { assets } = folder;
  const storage = Object.assign(folder.storage, { isShared });
  const world = {
    storage,
    ledger: more.ledger ?? new UnmeteredLedger(),
    pricing: new Pricing(),
    clock: more.clock ?? systemClock,
  };
  const discards = new Discards({ assets, logger });
  const fairness = more.fairness ?? { precedenceOf: () => FIRST };
  const book = new JobBook({ ...world, random: systemRandom, fairness, logger });
  const ends: ((result: RenderResult) => void)[] = [];
  const stops: StopReason[] = [];
  /** What the renderer reports of each render. */
  const renders: RenderEvents[] = [];
  const pool = {
    size: 2,
    render: (_: unknown, renderEvents: RenderEvents) => {
      renders.push(renderEvents);
      const { promise: result, resolve } = Promise.withResolvers<RenderResult>();
      ends.push(resolve);
      const stop = (reason: StopReason) => {
        stops.push(reason);
        resolve({ kind: 'stopped', durationMs: 1, reason });
      };
      return { result, stop, workedMs: () => RUNNING_MS };
    },
  } as unknown as Renders;
  const signals = more.signals ?? new LocalSignals();
  const statuses: string[] = [];
  const gate = Object.assign(new EventEmitter<{ open: [] }>(), { isOpen: true });
  const events: JobEvents = more.events ?? new EventEmitter();
  events.on('change', ({ phase, owner }) => {
    statuses.push(phase);
    if (phase === 'queued') dispatcher.added();
    if (phase === 'completed' || phase === 'failed') dispatcher.ended(owner);
    // Concurrent enqueues may wake it at any time.
    if (wakesOften) dispatcher.wake();
  });
  const cancellations = new Cancellations({
    ending: book,
    storage,
    signals,
    discards,
    events,
    clock: world.clock,
    logger,
  });
  const options: DispatcherOptions = {
    ...world,
    ending: book,
    claims: book.claims,
    cancellations,
    assets,
    logger,
    signals,
    discards,
    fairness,
    shortRuns: shortRunsOf(fairness),
    gate,
    storeWatch: { isAtFault: async () => false, noteStored: () => {} },
    spareSpace: undefined,
    isDiskFull: async () => false,
    events,
    queue: DEFAULT_QUEUE,
    previewIntervalMs: 0,
    random: systemRandom,
    ...more,
  };
  const dispatcher: Dispatcher = new Dispatcher(options);
  t.teardown(async () => {
    await dispatcher.stop(0);
    cancellations.stop();
  });
  const open = async (owner: string) =>
    (await book.add({ owner, request: REQUEST, metadataJson: null, webhookUrl: null, keyId: null })).job;
  const job = await open('a');
  await dispatcher.start(pool);
  await until(() => ends.length === 1);
  /** The result of a successful render. */
  const rendered = (): RenderResult => {
    const folder = join(path, 'work', String(ends.length));
    mkdirSync(folder);
    const file = join(folder, 'video.mp4');
    writeFileSync(file, 'a video');
    const files = [{ name: 'video.mp4' as const, path: file }];
    return { kind: 'rendered', durationMs: 1, seconds: 1, frames: 1, files, plays: [], folder };
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
    open,
    options,
    pool,
    gate,
    signals,
    dispatcher,
    job,
    ends,
    stops,
    renders,
    statuses,
    rendered,
    add,
    cancel,
  };
}

const LISTED = { kind: 'listed' as const, scenes: [], durationMs: 1 };

function noted(owners: (string | undefined)[], owner: string | undefined): typeof LISTED {
  owners.push(owner);
  return LISTED;
}

function shortRunsOf(fairness: DispatcherOptions['fairness']): ShortRuns {
  const { precedenceOf } = fairness;
  return new ShortRuns({ precedenceOf, assertMayCheck: () => {}, noteCheck: () => {} });
}

/** Appends the owner of each job that starts to `owners`. */
function recordStartsIn(owners: string[]): JobEvents {
  const events: JobEvents = new EventEmitter();
  return events.on('change', ({ owner, phase }) => void (phase === 'running' && owners.push(owner)));
}

const failedScene: RenderResult = { kind: 'failed', durationMs: 1, error: 'NameError', failedBy: 'scene' };

t.test(
  'an attempt that starts before the previous one is cleaned up is counted and can be canceled',
  async (t) => {
    const { storage, dispatcher, job, ends, statuses, cancel } = await setUp(t);
    ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
    await until(() => ends.length === 2);
    t.equal(dispatcher.running, 1);
    await cancel(job.jobId);
    await until(() => dispatcher.running === 0);
    t.same(statuses, ['running', 'queued', 'running', 'failed']);
    t.match(await storage.getJob(job.jobId), { phase: 'failed', error: 'Canceled', attempts: 2 });
    await dispatcher.stop(0);
  },
);

t.test('jobs that wait until TeX has changed leave their workers to others', async (t) => {
  const tex = new TexInstallation();
  const { dispatcher, ends, add } = await setUp(t, silentLogger, { tex });
  tex.enter('changing');
  await add('b');
  await until(() => ends.length === 2);
  await add('c');
  for (const end of ends) end({ ...failedScene, failedBy: 'tex' } as RenderResult);
  await until(() => ends.length === 3);
  t.equal(dispatcher.running, 3, 'on two workers');
  ends[2]?.(failedScene);
  await until(() => dispatcher.running === 2);
  tex.enter('complete');
  await until(() => ends.length === 5);
  for (const end of ends) end(failedScene);
  await until(() => dispatcher.running === 0);
});

t.test('artifacts of an interrupted attempt are removed when the job fails', async (t) => {
  const { assets, dispatcher, job, ends, rendered } = await setUp(t);
  const first = rendered();
  // As after a kill between storing the files and committing the outcome.
  for (const { name, path } of first.kind === 'rendered' ? first.files : []) {
    await assets.put(`${job.jobId}-1/${name}`, { path });
  }
  ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
  await until(() => ends.length === 2);
  t.ok(existsSync(assets.path(`${job.jobId}-1/video.mp4`)));
  ends[1]?.({ kind: 'failed', durationMs: 1, error: 'NameError', failedBy: 'scene' });
  await until(() => dispatcher.running === 0);
  await dispatcher.stop(0);
  t.notOk(existsSync(assets.path(`${job.jobId}-1/video.mp4`)));
});

const silence = Promise.withResolvers<void>();
for (const [how, deletion] of [
  ['does not respond', () => silence.promise],
  [
    'throws',
    () => {
      throw new Error('not connected');
    },
  ],
] as const) {
  t.test(`a job ends although the asset store ${how} on delete`, async (t) => {
    const { assets, dispatcher, ends, statuses } = await setUp(t);
    t.intercept(assets, 'delete', { value: deletion });
    // Otherwise the dispatcher's stop waits for it.
    t.teardown(() => silence.resolve());
    ends[0]?.({ kind: 'died', durationMs: 1, message: 'killed' });
    await until(() => ends.length === 2);
    ends[1]?.({ kind: 'failed', durationMs: 1, error: 'NameError', failedBy: 'scene' });
    await until(() => dispatcher.running === 0);
    t.equal(statuses.at(-1), 'failed');
  });
}

t.test('a scene that fails at its first attempt ends without calls to the asset store', async (t) => {
  const { storage, assets, dispatcher, job, ends } = await setUp(t);
  t.intercept(assets, 'delete', {
    value: async (assetKey: string) => t.fail(`nothing was stored at ${assetKey}`),
  });
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'NameError', failedBy: 'scene' });
  await until(() => dispatcher.running === 0);
  t.match(await storage.getJob(job.jobId), { phase: 'failed', error: 'NameError' });
  await dispatcher.stop(0);
});

t.test('a completed job keeps its artifacts, and those of earlier attempts are removed', async (t) => {
  const { storage, assets, dispatcher, job, ends, rendered } = await setUp(t);
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

t.test('attempts that fail for lack of resources are not counted', async (t) => {
  const holdsMs: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (details) => holdsMs.push((details as { againInMs?: number }).againInMs),
  };
  const { gate, storage, dispatcher, job, ends } = await setUp(t, logger);
  for (let attempts = 1; attempts <= 4; attempts++) {
    t.match(await storage.getJob(job.jobId), { phase: 'running', attempts: 1 });
    ends[attempts - 1]?.({ kind: 'unavailable', durationMs: 0, message: 'EMFILE', isShortage: true });
    await until(() => dispatcher.running === 0);
    t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0 });
    t.ok(dispatcher.isShortage);
    t.equal(ends.length, attempts, 'it is not attempted again immediately');
    gate.emit('open');
    await until(() => ends.length === attempts + 1);
  }
  t.same(holdsMs, [1000, 2000, 4000, 8000], 'the delay grows');
  ends.at(-1)?.({ kind: 'failed', durationMs: 1, error: 'NameError', failedBy: 'scene' });
  await until(() => dispatcher.running === 0);
  t.notOk(dispatcher.isShortage, 'a successful start ends the shortage');
  t.match(await storage.getJob(job.jobId), { phase: 'failed', attempts: 1 });
  await dispatcher.stop(0);
});

t.test('an external ledger that rejects an owner keeps no worker from the jobs of others', async (t) => {
  const ledger = new DistantLedger(1_000);
  const settle = ledger.settle.bind(ledger);
  let rejects = true;
  ledger.settle = async (request: Parameters<Ledger['settle']>[0]) => {
    if (rejects && request.owner === 'a') throw new Error('this owner is unknown');
    return settle(request);
  };
  const logged: unknown[][] = [];
  const logger: Logger = {
    ...silentLogger,
    info: (details, message) => void logged.push([message, (details as { status?: string }).status]),
  };
  const clock = new FakeClock('2026-11-22T12:00:00Z');
  const { storage, dispatcher, job, ends, rendered, statuses, add } = await setUp(t, logger, {
    ledger,
    clock,
  });
  ends[0]?.(rendered());
  const second = await add('a');
  await until(() => ends.length === 2);
  ends[1]?.(rendered());
  const other = await add('b');
  await until(() => ends.length === 3 && dispatcher.running === 1);
  for (const { jobId } of [job, second]) t.match(await storage.getJob(jobId), { phase: 'settling' });
  ends[2]?.(rendered());
  await until(() => dispatcher.running === 0);
  t.match(await storage.getJob(other.jobId), { phase: 'completed' });
  t.same(logged, [['job', 'completed']]);
  rejects = false;
  await until(() => {
    clock.advance(30_000);
    return statuses.filter((status) => status === 'completed').length === 3;
  });
  for (const { jobId } of [job, second]) t.match(await storage.getJob(jobId), { phase: 'completed' });
  t.same(logged, Array(3).fill(['job', 'completed']));
});

t.test('a shortage ends when no job is queued', async (t) => {
  const { gate, dispatcher, job, ends, cancel } = await setUp(t);
  ends[0]?.({ kind: 'unavailable', durationMs: 0, message: 'EMFILE', isShortage: true });
  await until(() => dispatcher.running === 0);
  await cancel(job.jobId);
  t.ok(dispatcher.isShortage);
  gate.emit('open');
  await until(() => !dispatcher.isShortage);
  await dispatcher.stop(0);
});

for (const code of ['EMFILE', 'ENFILE', 'ENOMEM']) {
  t.test(`an attempt is not counted if the asset store fails with ${code}`, async (t) => {
    const { gate, storage, assets, dispatcher, job, ends, rendered } = await setUp(t);
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

t.test('a job ends although its artifacts disappeared after the render', async (t) => {
  const { storage, dispatcher, job, ends, rendered } = await setUp(t);
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
    error: /could not store it.*scene is not the cause/,
  });
  await dispatcher.stop(0);
});

t.test('a job is queued again if ending its attempt fails', async (t) => {
  let failures = 1;
  const logger: Logger = {
    ...silentLogger,
    warn: () => {
      if (failures-- > 0) throw new Error('the log is full');
    },
  };
  const { storage, dispatcher, job, ends } = await setUp(t, logger);
  ends[0]?.({ kind: 'unavailable', durationMs: 0, message: 'no renderer' });
  await until(() => dispatcher.running === 0);
  t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0, interruptions: 1 });
  await dispatcher.stop(0);
});

t.test('a renderer that dies by the signal that stops the service is not counted', async (t) => {
  const { storage, dispatcher, job, ends } = await setUp(t);
  // The renderer gets the signal before the service handles it.
  ends[0]?.({ kind: 'died', durationMs: 1, message: 'it ended by SIGINT' });
  await new Promise(setImmediate);
  await dispatcher.stop(1_000);
  t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0 });
});

t.test('the death of a worker thread counts as an interruption, not as an attempt', async (t) => {
  const { storage, dispatcher, job, ends } = await setUp(t);
  ends[0]?.({ kind: 'interrupted', durationMs: 0, message: 'out of memory' });
  await until(() => ends.length === 2);
  t.match(await storage.getJob(job.jobId), { phase: 'running', attempts: 1, interruptions: 1 });
  ends[1]?.({ kind: 'interrupted', durationMs: 0, message: 'out of memory' });
  await until(() => dispatcher.running === 0);
  t.equal(dispatcher.queued, 1, 'after the second one it is held back');
  t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0, interruptions: 2 });
  await dispatcher.stop(0);
});

t.test('a job canceled while it is requeued ends', async (t) => {
  const { storage, dispatcher, job, ends, cancel } = await setUp(t);
  const transaction = storage.transaction.bind(storage);
  let canceled = false;
  t.intercept(storage, 'transaction', {
    value: async (work: Parameters<typeof transaction>[0]) => {
      // Canceled after the decision to requeue, before its commit.
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

t.test('one of two workers is reserved for owners in good standing', async (t) => {
  const owners: string[] = [];
  const { dispatcher, ends, add } = await setUp(t, silentLogger, {
    queue: { ...DEFAULT_QUEUE, reservedWorkers: 1 },
    fairness: { precedenceOf: (owner) => ({ yields: false, inGoodStanding: owner === 'good' }) },
    events: recordStartsIn(owners),
  });
  await add('b');
  await add('good');
  await until(() => ends.length === 2);
  t.same(owners, ['a', 'good'], 'other owners wait while one of them has a job running');
  await add('good');
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await until(() => ends.length === 3);
  t.same(owners, ['a', 'good', 'b'], 'other owners share the second worker in turns');
  ends[1]?.({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await until(() => ends.length === 4);
  t.same(owners, ['a', 'good', 'b', 'good']);
  for (const end of ends) end({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await dispatcher.stop(0);
});

t.test('one worker always serves all owners', async (t) => {
  const { dispatcher, ends, add } = await setUp(t, silentLogger, {
    queue: { ...DEFAULT_QUEUE, reservedWorkers: 100 },
    fairness: { precedenceOf: () => ({ yields: false, inGoodStanding: false }) },
  });
  await add('b');
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await until(() => ends.length === 2);
  t.equal(dispatcher.running, 1);
  ends[1]?.({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await dispatcher.stop(0);
});

t.test('running renders count against the standing of their owner', async (t) => {
  const runningMs: number[] = [];
  const { dispatcher, ends, add } = await setUp(t, silentLogger, {
    fairness: {
      precedenceOf: (owner, ms) => {
        if (owner === 'a' && ms !== undefined) runningMs.push(ms);
        return FIRST;
      },
    },
  });
  await add('a');
  await until(() => ends.length === 2);
  await until(() => runningMs.includes(2 * RUNNING_MS));
  runningMs.length = 0;
  await add('a');
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await until(() => ends.length === 3);
  t.ok(runningMs.includes(RUNNING_MS), 'the other one still runs');
  for (const end of ends) end({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await dispatcher.stop(0);
});

t.test('a job whose owner loses good standing while it runs leaves the other worker reserved', async (t) => {
  const owners: string[] = [];
  const good = new Set(['a', 'good']);
  const { dispatcher, ends, add } = await setUp(t, silentLogger, {
    queue: { ...DEFAULT_QUEUE, reservedWorkers: 1 },
    fairness: { precedenceOf: (owner) => ({ yields: false, inGoodStanding: good.has(owner) }) },
    events: recordStartsIn(owners),
  });
  good.delete('a');
  await add('b');
  await add('good');
  await until(() => ends.length === 2);
  t.same(owners, ['a', 'good'], 'the job of `b` waits, as the one of `a` still runs');
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await until(() => ends.length === 3);
  t.same(owners, ['a', 'good', 'b']);
  for (const end of ends) end({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await dispatcher.stop(0);
});

t.test('a short run that waits keeps no job from a reserved worker', async (t) => {
  const precedences = {
    precedenceOf: (owner: string) => ({ yields: false, inGoodStanding: owner === 'good' }),
  };
  const shortRuns = shortRunsOf(precedences);
  const { dispatcher, ends, add } = await setUp(t, silentLogger, {
    queue: { ...DEFAULT_QUEUE, reservedWorkers: 1 },
    fairness: precedences,
    shortRuns,
  });
  const waiting = shortRuns.run(async () => LISTED, { owner: 'b' });
  await add('good');
  await until(() => ends.length === 2);
  t.equal(shortRuns.waiting, 1, 'the job of `a` is on the only worker that may run it');
  for (const end of ends) end({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  t.equal(await waiting, LISTED);
  await dispatcher.stop(0);
});

t.test('short runs take turns with jobs, and leave the reserved workers to them', async (t) => {
  const owners: string[] = [];
  const precedences = { precedenceOf: () => ({ yields: false, inGoodStanding: false }) };
  const shortRuns = shortRunsOf(precedences);
  const { dispatcher, ends, add } = await setUp(t, silentLogger, {
    queue: { ...DEFAULT_QUEUE, reservedWorkers: 1 },
    fairness: precedences,
    shortRuns,
    events: recordStartsIn(owners),
  });
  const endOf: (() => void)[] = [];
  const begin = (owner: string) => {
    const run = async ({ background }: { background: boolean }) => {
      t.equal(background, true);
      owners.push(`${owner}'s listing`);
      await new Promise<void>((resolve) => endOf.push(resolve));
      return LISTED;
    };
    return shortRuns.run(run, { owner });
  };
  const first = begin('b');
  const second = begin('b');
  await add('c');
  t.same(owners, ['a'], 'the second worker is reserved for owners in good standing');
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await until(() => endOf.length === 1);
  t.equal(ends.length, 1);
  endOf[0]?.();
  t.equal(await first, LISTED);
  await until(() => ends.length === 2);
  ends[1]?.({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await until(() => endOf.length === 2);
  t.same(owners, ['a', "b's listing", 'c', "b's listing"]);
  endOf[1]?.();
  await second;
  const waiting = [begin('b'), begin('b')];
  await until(() => endOf.length === 3);
  await dispatcher.stop(0);
  await t.rejects(waiting[1] as Promise<unknown>, { code: 'not_running' });
  endOf[2]?.();
  t.equal(await waiting[0], LISTED);
});

t.test('a short run counts towards the concurrent renders of its owner', async (t) => {
  const shortRuns = shortRunsOf({ precedenceOf: () => FIRST });
  const { dispatcher, ends } = await setUp(t, silentLogger, {
    queue: { ...DEFAULT_QUEUE, maxRunningPerOwner: 1 },
    shortRuns,
  });
  const owners: (string | undefined)[] = [];
  const run = (owner: string | undefined) => shortRuns.run(async () => noted(owners, owner), { owner });
  const waiting = run('a');
  const aborted = new AbortController();
  const { signal } = aborted;
  const gone = shortRuns.run(async () => noted(owners, 'gone'), { owner: 'a', signal });
  await run('b');
  await run(undefined);
  t.same(owners, ['b', undefined], 'those of others run');
  aborted.abort();
  await t.rejects(gone, { name: 'AbortError' });
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'x', failedBy: 'scene' });
  await waiting;
  t.same(owners, ['b', undefined, 'a']);
  await dispatcher.stop(0);
});

t.test('attempts that end during a stop leave no timers', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  for (const end of ['unavailable', 'died'] as const) {
    const { storage, dispatcher, job, ends } = await setUp(t);
    // After so many interruptions it would be held back.
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

t.test(
  'canceling a render ends the job immediately and frees the worker once the render has ended',
  async (t) => {
    const { storage, dispatcher, job, ends, stops, cancel, add } = await setUp(t);
    for (const owner of ['b', 'c']) await add(owner);
    await until(() => ends.length === 2);
    const canceling = cancel(job.jobId);
    await canceling;
    t.match(await storage.getJob(job.jobId), { phase: 'failed', error: 'Canceled', failedBy: 'cancel' });
    t.same(stops, ['canceled']);
    await until(() => ends.length === 3);
    t.equal(dispatcher.running, 2);
    await dispatcher.stop(0);
  },
);

t.test('the render of a job canceled while it is claimed is stopped', async (t) => {
  const { storage, book, dispatcher, job, ends, stops, cancel, add } = await setUp(t);
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

t.test('a job that is claimed while the service stops is requeued at once', async (t) => {
  const { storage, book, dispatcher, stops, ends, add } = await setUp(t);
  const claim = book.claims.claim.bind(book.claims);
  let stopped: Promise<void> | undefined;
  t.intercept(book.claims, 'claim', {
    value: async (...args: Parameters<typeof claim>) => {
      const claimed = await claim(...args);
      if (claimed.length > 0) stopped ??= dispatcher.stop(3_600_000);
      return claimed;
    },
  });
  const { jobId } = await add('b');
  await until(() => stops.length === 1);
  t.same(stops, ['shutdown']);
  ends[0]?.({ kind: 'failed', durationMs: 1, error: 'NameError', failedBy: 'scene' });
  await stopped;
  t.match(await storage.getJob(jobId), { phase: 'queued', attempts: 0 });
});

t.test('an attempt whose job was canceled or claimed by another worker has no effect', async (t) => {
  for (const how of ['canceled', 'taken up'] as const) {
    await t.test(how, async (t) => {
      const { gate, storage, assets, book, dispatcher, job, ends, rendered, statuses } = await setUp(t);
      gate.isOpen = false;
      // The signal is lost.
      if (how === 'canceled') await book.cancel(job.jobId);
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
      t.same(statuses, ['running'], 'no end is reported');
      await dispatcher.stop(0);
      t.notOk(existsSync(assets.path(`${job.jobId}-1/video.mp4`)), 'stored artifacts are removed');
    });
  }
});

t.test('workers of several services render each job once', async (t) => {
  const { storage, options, pool, dispatcher, ends, statuses, add } = await setUp(t);
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

t.test('queued jobs are found although their signal was lost', async (t) => {
  const clock = new FakeClock('2026-11-22T10:00:00Z');
  const { book, dispatcher, ends } = await setUp(t, silentLogger, { clock });
  await book.add({ owner: 'b', request: REQUEST, metadataJson: null, webhookUrl: null, keyId: null });
  clock.advance(2_000);
  await until(() => ends.length === 2);
  await dispatcher.stop(0);
});

t.test('an owner who yields regains turns in time, without an event of their own', async (t) => {
  const clock = new FakeClock('2026-11-22T10:00:00Z');
  let isSpent = true;
  const owners: string[] = [];
  const { dispatcher, ends, add } = await setUp(t, silentLogger, {
    fairness: { precedenceOf: (owner) => ({ yields: owner === 'y' && isSpent, inGoodStanding: true }) },
    clock,
    events: recordStartsIn(owners),
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
});

t.test('failed claims are retried', async (t) => {
  const errors: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (_, message) => errors.push(message) };
  const { gate, book, dispatcher, ends, add } = await setUp(t, logger);
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

t.test('a job whose claim was committed, but not confirmed, is requeued when its lease ends', async (t) => {
  const clock = new FakeClock('2026-11-22T10:00:00Z');
  const { book, dispatcher, job, add, storage, ends } = await setUp(t, silentLogger, { clock });
  const claim = book.claims.claim.bind(book.claims);
  let isConfirmed = false;
  t.intercept(book.claims, 'claim', {
    value: async (...args: Parameters<typeof claim>) => {
      const claimed = await claim(...args);
      if (isConfirmed || claimed.length === 0) return claimed;
      isConfirmed = true;
      throw new Error('it is unknown whether anything was changed');
    },
  });
  const { jobId } = await add('b');
  await until(async () => (await storage.getJob(jobId))?.phase === 'running');
  clock.advance(LEASE_MS);
  await until(() => dispatcher.running === 1);
  t.match(await book.claims.putBackLapsed({ except: dispatcher.runningIds }), [{ jobId, phase: 'queued' }]);
  t.match(await storage.getJob(job.jobId), { phase: 'running' });
  dispatcher.wake();
  clock.advance(60_000);
  await until(() => ends.length === 2);
  t.same(dispatcher.runningIds.sort(), [job.jobId, jobId].sort());
});

t.test('claims are renewed, and renders with lost claims are stopped', async (t) => {
  const clock = new FakeClock('2026-11-22T10:00:00Z');
  const { book, dispatcher, job, stops } = await setUp(t, silentLogger, { clock });
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
  await book.cancel(job.jobId); // The signal is lost.
  clock.advance(11_000);
  await until(() => renewed.length === 2);
  t.same(renewed, [1, 0]);
  await until(() => dispatcher.running === 0);
  t.same(stops, ['claim_lost']);
  await dispatcher.stop(0);
});

t.test('a worker that cannot renew its claims stops its renders if the storage is shared', async (t) => {
  for (const isShared of [true, false]) {
    await t.test(isShared ? 'shared' : 'not shared', async (t) => {
      const clock = new FakeClock('2026-11-22T10:00:00Z');
      const { gate, storage, book, dispatcher, job, stops } = await setUp(
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

t.test(
  'a render whose claim cannot be renewed for two thirds of its lease is ended, whatever the time of day',
  async (t) => {
    const clock = new FakeClock('2026-11-21T10:00:00Z');
    const { storage, job, ends, stops } = await setUp(t, silentLogger, { clock }, { isShared: true });
    const transaction = storage.transaction.bind(storage);
    storage.transaction = async () => {
      throw new Error('the database cannot be reached');
    };
    clock.set('2020-01-01T00:00:00Z');
    clock.advance((2 * LEASE_MS) / 3 - 1);
    t.same(stops, []);
    clock.advance(1);
    t.same(stops, ['claim_expired']);
    // Meanwhile another worker may have taken the job, or none.
    storage.transaction = transaction;
    while (ends.length === 1) {
      clock.advance(1_000);
      await new Promise(setImmediate);
    }
    await until(() => ends.length === 2);
    t.match(await storage.getJob(job.jobId), { phase: 'running', attempts: 1 });
  },
);

/** Enough turns of the event loop for everything that needs no timer. */
async function turns(): Promise<void> {
  for (let count = 0; count < 50; count++) await new Promise(setImmediate);
}

/** With a clock that stands still, so nothing is found by polling. */
function setUpTimeless(t: Test, more: Partial<DispatcherOptions> = {}, how: { isShared?: boolean } = {}) {
  const clock = new FakeClock('2026-11-22T10:00:00Z');
  const logged: unknown[][] = [];
  const log = (details: object, message?: string) => void logged.push([message, details]);
  const logger: Logger = { ...silentLogger, warn: log, error: log };
  const set = setUp(t, logger, { clock, ...more }, { ...how, wakesOften: false });
  return set.then((opened) => ({ ...opened, clock, logged }));
}

t.test('an added job starts at once, although its signal is lost', async (t) => {
  const published: unknown[] = [];
  const signals: Signals = { publish: (signal) => published.push(signal), subscribe: () => () => {} };
  const { ends, add } = await setUpTimeless(t, { signals });
  await add('b');
  await until(() => ends.length === 2);
  t.same(published.at(-1), { kind: 'waiting' });
});

t.test('a job that another process added starts at its signal', async (t) => {
  const { ends, open, signals } = await setUpTimeless(t);
  await open('b');
  signals.publish({ kind: 'waiting' });
  await until(() => ends.length === 2);
});

t.test('waiting jobs start when the gate opens, and when a hold ends', async (t) => {
  const { clock, dispatcher, gate, ends, add } = await setUpTimeless(t);
  gate.isOpen = false;
  await add('b');
  await turns();
  t.equal(ends.length, 1);
  gate.isOpen = true;
  gate.emit('open');
  await until(() => ends.length === 2);
  for (const end of ends) end({ kind: 'unavailable', durationMs: 0, message: 'no renderer' });
  await until(() => dispatcher.running === 0 && dispatcher.queued === 2);
  clock.advance(999);
  await turns();
  t.equal(ends.length, 2);
  clock.advance(1);
  await until(() => ends.length === 4);
});

t.test('jobs that wait and run are counted, without a renderer, too', async (t) => {
  const { clock, dispatcher, ends, add, open, options, job } = await setUpTimeless(t);
  await until(() => dispatcher.queued === 0);
  t.equal(dispatcher.oldestQueuedMs, null);
  t.equal(dispatcher.running, 1);
  const other = new Dispatcher(options);
  await other.start(undefined);
  t.teardown(() => other.stop(0));
  const createdAtMs = clock.now();
  await add('b');
  await until(() => ends.length === 2);
  await add('c');
  await until(() => dispatcher.queued === 1 && other.queued === 1);
  t.equal(other.oldestQueuedMs, createdAtMs);
  t.equal(other.running, 0);
  t.equal(other.runningEverywhere, 2);
  t.equal(other.progress(job.jobId), undefined);
  await open('d');
  clock.advance(2_000);
  await until(() => other.queued === 2);
});

t.test('each run is a worker of its own, so claims of an earlier run are orphaned', async (t) => {
  const { book, clock, dispatcher, pool } = await setUpTimeless(t);
  const workers = t.capture(book.claims, 'claim', book.claims.claim.bind(book.claims));
  for (let run = 1; run <= 2; run++) {
    await dispatcher.stop(0);
    clock.advance(60_000);
    await dispatcher.start(pool);
    await until(() => dispatcher.running === 1);
  }
  const names = new Set(workers().map(({ args: [worker] }) => worker));
  t.equal(names.size, 2);
  for (const name of names) t.match(name, /^worker_/);
});

t.test('a busy service claims nothing', async (t) => {
  const { book, dispatcher, ends, add } = await setUpTimeless(t);
  await add('b');
  await until(() => ends.length === 2);
  await turns();
  t.intercept(book.claims, 'claim', { value: async () => t.fail('all workers are busy') });
  await add('c');
  await until(() => dispatcher.queued === 1);
  await turns();
});

t.test('an owner who has to yield loses turns at the end of a job', async (t) => {
  const owners: string[] = [];
  let isSpent = false;
  const { dispatcher, ends, add } = await setUpTimeless(t, {
    fairness: { precedenceOf: (owner) => ({ yields: owner === 'a' && isSpent, inGoodStanding: true }) },
    events: recordStartsIn(owners),
  });
  await add('b');
  await until(() => ends.length === 2);
  for (const owner of ['a', 'c', 'd']) await add(owner);
  isSpent = true;
  for (let ended = 0; ended < 3; ended++) {
    ends[ended]?.(failedScene);
    await until(() => ends.length === ended + 3);
  }
  t.same(owners, ['a', 'b', 'c', 'd', 'a']);
  t.equal(dispatcher.running, 2);
});

for (const where of ['ended', 'endedElsewhere'] as const) {
  t.test(`an owner who yields regains turns when a job of theirs has ${where}`, async (t) => {
    let isSpent = true;
    const owners: string[] = [];
    const { dispatcher, ends, add } = await setUpTimeless(t, {
      fairness: { precedenceOf: (owner) => ({ yields: owner === 'y' && isSpent, inGoodStanding: true }) },
      events: recordStartsIn(owners),
    });
    for (const owner of ['b', 'y', 'c', 'd']) await add(owner);
    await until(() => ends.length === 2);
    ends[0]?.(failedScene);
    await until(() => ends.length === 3);
    isSpent = false;
    dispatcher[where]('y');
    ends[1]?.(failedScene);
    await until(() => ends.length === 4);
    t.same(owners, ['a', 'b', 'c', 'y']);
  });
}

t.test('precedences are checked while jobs wait, and a failure is logged', async (t) => {
  const { clock, storage, dispatcher, ends, add, logged, options } = await setUpTimeless(t);
  const other = new Dispatcher({ ...options, logger: silentLogger });
  await other.start(undefined);
  let looks = 0;
  t.intercept(storage.queue, 'owners', {
    value: async () => {
      looks += 1;
      throw new Error('not connected');
    },
  });
  await add('b');
  await until(() => ends.length === 2);
  await until(() => dispatcher.queued === 0);
  clock.advance(2_000);
  await turns();
  t.equal(looks, 0, 'no job waits');
  await add('c');
  await until(() => dispatcher.queued === 1 && other.queued === 1);
  clock.advance(2_000);
  await turns();
  t.equal(looks, 1, 'not without a renderer');
  t.match(logged, [[/precedence of owners failed/, { err: { message: 'not connected' } }]]);
  await other.stop(0);
  const { promise, reject } = Promise.withResolvers<never>();
  t.intercept(storage.queue, 'owners', { value: () => promise });
  clock.advance(2_000);
  await dispatcher.stop(0);
  reject(new Error('the storage is closed'));
  await turns();
  t.equal(logged.length, 1, 'nor after a stop');
});

t.test('suspects run one at a time', async (t) => {
  const { clock, storage, dispatcher, pool, job, ends, add } = await setUpTimeless(t);
  Object.assign(pool, { size: 4 });
  for (const owner of ['b', 'c']) {
    const { jobId } = await add(owner);
    await until(() => dispatcher.running === 2);
    const running = (await storage.getJob(jobId)) as JobRecord;
    await storage.transaction((tx) => storage.updateJob(tx, { ...running, interruptions: 1 }));
    ends.at(-1)?.({ kind: 'interrupted', durationMs: 0, message: 'out of memory' });
    await until(() => dispatcher.running === 1);
  }
  clock.advance(2_000);
  await until(() => ends.length === 4);
  await turns();
  t.equal(dispatcher.running, 2, 'the first job and one suspect');
  t.match(await storage.getJob(job.jobId), { phase: 'running' });
  dispatcher.wake();
  await turns();
  t.equal(dispatcher.running, 2);
  ends[3]?.(failedScene);
  await until(() => ends.length === 5);
});

t.test('claims of attempts that have ended are not renewed', async (t) => {
  const { clock, book, dispatcher, ends } = await setUpTimeless(t);
  t.intercept(book.claims, 'renew', { value: async () => t.fail('no job is running') });
  ends[0]?.(failedScene);
  await until(() => dispatcher.running === 0);
  clock.advance(60_000);
  await turns();
});

t.test('an old claim that expires does not stop the next attempt at the job', async (t) => {
  const { clock, book, dispatcher, ends, stops } = await setUpTimeless(t, {}, { isShared: true });
  t.intercept(book.claims, 'renew', { value: () => Promise.reject(new Error('not connected')) });
  const requeue = book.claims.requeue.bind(book.claims);
  const late = Promise.withResolvers<void>();
  t.intercept(book.claims, 'requeue', {
    value: async (...args: Parameters<typeof requeue>) => {
      const queued = await requeue(...args);
      dispatcher.wake();
      await late.promise;
      return queued;
    },
  });
  clock.advance(15_000);
  ends[0]?.({ kind: 'interrupted', durationMs: 0, message: 'out of memory' });
  await until(() => ends.length === 2);
  clock.advance(15_000);
  t.same(stops, []);
  late.resolve();
  await turns();
  t.equal(dispatcher.running, 1, 'the end of the first attempt does not end the second');
  ends[1]?.(failedScene);
  await until(() => dispatcher.running === 0);
});

t.test(
  'a lost claim of an attempt that is still being ended does not keep others from being stopped',
  async (t) => {
    const { clock, book, dispatcher, ends, stops } = await setUpTimeless(t);
    t.intercept(book.claims, 'renew', { value: async () => [] });
    const requeue = book.claims.requeue.bind(book.claims);
    const late = Promise.withResolvers<void>();
    t.intercept(book.claims, 'requeue', {
      value: async (...args: Parameters<typeof requeue>) => {
        const queued = await requeue(...args);
        await late.promise;
        return queued;
      },
    });
    ends[0]?.({ kind: 'interrupted', durationMs: 0, message: 'out of memory' });
    await until(() => {
      dispatcher.wake();
      return ends.length === 2;
    });
    clock.advance(LEASE_MS / 6);
    await until(() => stops.length === 1);
    t.same(stops, ['claim_lost']);
    // The second attempt ends first.
    ends[1]?.(failedScene);
    late.resolve();
  },
);

t.test('a job that is canceled while it is being claimed is not rendered to its end', async (t) => {
  const { book, signals, ends, stops, add } = await setUpTimeless(t);
  const claim = book.claims.claim.bind(book.claims);
  t.intercept(book.claims, 'claim', {
    value: async (...args: Parameters<typeof claim>) => {
      const claimed = await claim(...args);
      for (const { job } of claimed) signals.publish({ kind: 'canceled', jobId: job.jobId });
      return claimed;
    },
  });
  await add('b');
  await until(() => ends.length === 2);
  t.same(stops, ['canceled']);
});

t.test('a job that is canceled while it waits is no longer counted', async (t) => {
  const { dispatcher, ends, add, cancel } = await setUpTimeless(t);
  await add('b');
  await until(() => ends.length === 2);
  const { jobId } = await add('c');
  await until(() => dispatcher.queued === 1);
  await cancel(jobId);
  await until(() => dispatcher.queued === 0);
});

t.test('the progress of a running job is that of its last report', async (t) => {
  const { dispatcher, job, renders } = await setUpTimeless(t);
  t.equal(dispatcher.progress(job.jobId), undefined);
  const progress = { stage: 'rendering', frames: 30, seconds: 1 } as const;
  renders[0]?.onProgress({ type: 'progress', ...progress });
  t.same(dispatcher.progress(job.jobId), progress);
});

t.test('a stop does not wait for an outcome that cannot be recorded', async (t) => {
  const { book, dispatcher, ends, logged } = await setUpTimeless(t);
  t.intercept(book, 'finish', { value: () => Promise.reject(new Error('not connected')) });
  ends[0]?.(failedScene);
  await until(() => logged.length === 1);
  await dispatcher.stop(0);
  t.match(logged, [[/retrying/, { againInMs: 500 }]]);
});

t.test('a stop waits for attempts as long as it may, then ends them', async (t) => {
  const { clock, dispatcher, stops, job, storage } = await setUpTimeless(t);
  const stopped = dispatcher.stop(5_000);
  await turns();
  clock.advance(4_999);
  await turns();
  t.same(stops, []);
  clock.advance(1);
  await stopped;
  t.same(stops, ['shutdown']);
  t.match(await storage.getJob(job.jobId), { phase: 'queued', attempts: 0 });
});

t.test('after a stop, nothing is left that would use the storage or keep the process alive', async (t) => {
  const { clock, dispatcher, gate, signals, storage, ends, pool, job } = await setUpTimeless(t);
  ends[0]?.({ kind: 'unavailable', durationMs: 0, message: 'EMFILE', isShortage: true });
  await until(() => dispatcher.running === 0);
  t.ok(dispatcher.isShortage);
  await dispatcher.stop(0);
  t.notOk(dispatcher.isShortage);
  t.equal(clock.nextInMs, undefined);
  t.equal(gate.listenerCount('open'), 0);
  await turns();
  const state = storage.queue.state.bind(storage.queue);
  t.intercept(storage.queue, 'state', { value: () => t.fail('the storage may be closed') });
  signals.publish({ kind: 'waiting' });
  await turns();
  t.intercept(storage.queue, 'state', { value: state });
  await dispatcher.start(pool);
  await until(() => ends.length === 2);
  t.match(await storage.getJob(job.jobId), { phase: 'running', attempts: 1 });
});

t.test('a dispatcher that was not started can be stopped', async (t) => {
  const { options } = await setUpTimeless(t);
  await new Dispatcher(options).stop(0);
});

t.test('a claim that fails during a stop is not reported', async (t) => {
  const { clock, book, dispatcher, logged, add } = await setUpTimeless(t);
  const { promise: claiming, reject } = Promise.withResolvers<never>();
  let isClaiming = false;
  t.intercept(book.claims, 'claim', {
    value: () => {
      isClaiming = true;
      return claiming;
    },
  });
  await add('b');
  await until(() => isClaiming);
  const stopped = dispatcher.stop(0);
  reject(new Error('the storage is closed'));
  await stopped;
  t.same(logged, []);
  t.equal(clock.nextInMs, undefined);
});

t.test('a claim that fails is logged, with the time of the next', async (t) => {
  const { clock, book, ends, logged, add } = await setUpTimeless(t);
  const claim = book.claims.claim.bind(book.claims);
  let failures = 1;
  t.intercept(book.claims, 'claim', {
    value: async (...args: Parameters<typeof claim>) => {
      if (failures-- > 0) throw new Error('the disk is full');
      return claim(...args);
    },
  });
  await add('b');
  await until(() => logged.length === 1);
  t.match(logged, [[/Claiming jobs failed/, { againInMs: 1_000, err: { message: 'the disk is full' } }]]);
  await turns();
  t.equal(ends.length, 1);
  clock.advance(1_000);
  await until(() => ends.length === 2);
});
