import { EventEmitter } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ScenepressError } from '../../../../lib/base/errors.ts';
import { silentLogger } from '../../../../lib/base/logger.ts';
import type { AssetStore, Logger } from '../../../../lib/index.ts';
import { Discards } from '../../../../lib/jobs/end/discards.ts';
import { Attempt, type AttemptOptions, type Renders } from '../../../../lib/jobs/run/attempt.ts';
import { StartHold } from '../../../../lib/jobs/run/start-hold.ts';
import { Pricing } from '../../../../lib/ledger/pricing.ts';
import type { JobEvents } from '../../../../lib/model/job-events.ts';
import type { RenderResult, RenderTask, StopReason } from '../../../../lib/model/render-task.ts';
import type { RenderEvents } from '../../../../lib/render/pool/render-pool.ts';
import { TexInstallation } from '../../../../lib/render/tex/tex-installation.ts';
import { turn } from '../../../../lib/time/clock.ts';
import { clock, newJob, openStored } from '../../../fixtures/books.ts';
import { testFolder } from '../../../fixtures/test-folder.ts';
import { until } from '../../../fixtures/until.ts';

const died: RenderResult = { kind: 'died', durationMs: 5, message: 'killed' };
const failedScene: RenderResult = { kind: 'failed', durationMs: 7, error: 'NameError', failedBy: 'scene' };
const failedTex = (): RenderResult => ({ kind: 'failed', durationMs: 7, error: 'TeX: ', failedBy: 'tex' });
const unavailable: RenderResult = { kind: 'unavailable', durationMs: 0, message: 'no renderer' };

/** A claimed job and its attempt, whose render the test ends. */
async function setUp(t: Test, change: Partial<AttemptOptions> = {}, attempts = 1) {
  const { book, storage, ledger, begin } = await openStored(t);
  const { jobId } = (await book.add({ ...newJob, request: { ...newJob.request, fps: 24 } })).job;
  for (let earlier = 1; earlier < attempts; earlier++) {
    await book.claims.requeue((await begin(jobId)).claim, { counted: true });
  }
  const claimed = await begin(jobId);
  const logged: unknown[][] = [];
  const log = (level: string) => (details: object, message?: string) => {
    logged.push([level, message, details]);
  };
  const logger: Logger = { ...silentLogger, warn: log('warn'), error: log('error') };
  const stored: string[] = [];
  const deleted: string[] = [];
  const assets = {
    put: async (key: string) => {
      stored.push(key);
      return { sizeBytes: 7 };
    },
    delete: async (key: string) => void deleted.push(key),
  } as unknown as AssetStore;
  const events: JobEvents = new EventEmitter();
  const seen: unknown[][] = [];
  events.on('change', (job) => seen.push([job.phase]));
  events.on('progress', (id, progress) => seen.push([id, progress]));
  events.on('preview', (id, jpeg) => seen.push([id, String(jpeg)]));
  const hold = new StartHold(clock);
  t.teardown(() => hold.end());
  const [stopping, stopped] = [new AbortController(), new AbortController()];
  const discards = new Discards({ assets, logger });
  const attempt = new Attempt(claimed, {
    ending: book,
    claims: book.claims,
    cancellations: { complete: async () => undefined },
    storage,
    ledger,
    pricing: new Pricing(),
    clock,
    assets,
    logger,
    hold,
    discards,
    events,
    storeWatch: { isAtFault: async () => false, noteStored: () => {} },
    spareSpace: undefined,
    isDiskFull: async () => false,
    previewIntervalMs: 250,
    inGoodStanding: true,
    stopping: stopping.signal,
    stopped: stopped.signal,
    ...change,
  });
  const started = Promise.withResolvers<[Omit<RenderTask, 'port'>, RenderEvents]>();
  const result = Promise.withResolvers<RenderResult>();
  const stops: unknown[] = [];
  const renderer: Renders = {
    size: 1,
    render: (task, events) => {
      started.resolve([task, events]);
      const beganMs = clock.uptimeMs();
      const stop = (reason: StopReason) => {
        stops.push(reason);
        result.resolve({ kind: 'stopped', durationMs: 3, reason });
      };
      return { result: result.promise, stop, workedMs: () => clock.uptimeMs() - beganMs };
    },
  };
  let ends = 0;
  const begun = async () => {
    await attempt.begin(renderer);
    ends += 1;
  };
  /** Runs the attempt with a result of its render. */
  const run = async (of: RenderResult) => {
    const ended = begun();
    result.resolve(of);
    await ended;
  };
  /** A successful render of one video. */
  const rendered = async (): Promise<RenderResult> => {
    const folder = join(testFolder(t), 'out');
    await mkdir(folder);
    const path = join(folder, 'video.mp4');
    await writeFile(path, 'a video');
    const files = [{ name: 'video.mp4' as const, path }];
    return { kind: 'rendered', durationMs: 1500, seconds: 1, frames: 24, files, plays: [], folder };
  };
  const job = () => storage.getJob(jobId);
  return {
    ...{ book, storage, ledger, claimed, jobId, attempt, hold, events, discards, stopping, stopped },
    ...{ begun, run, rendered, job, started: started.promise, result, renderer },
    ...{ logged, seen, stops, stored, deleted, ends: () => ends },
  };
}

t.test('a render gets what was requested, and its progress and previews are reported', async (t) => {
  const { jobId, attempt, begun, started, result, seen, stops, stored, job, hold, rendered, ends, logged } =
    await setUp(t);
  t.equal(attempt.progress, undefined);
  begun();
  const [task, events] = await started;
  t.same(task, {
    ...{ jobId, code: 'x', className: 'A', fps: 24, widthPx: 854, heightPx: 480 },
    ...{ previewIntervalMs: 250, background: false },
  });
  hold.begin({ isShortage: true });
  const progress = { stage: 'rendering', frames: 3, seconds: 0.1 } as const;
  events.onProgress({ type: 'progress', ...progress });
  t.notOk(hold.isShortage);
  t.strictSame(attempt.progress, progress);
  events.onPreview(Buffer.from('jpeg'));
  t.strictSame(seen, [['running'], [jobId, progress], [jobId, 'jpeg']]);
  result.resolve(await rendered());
  await attempt.ended;
  t.match(await job(), { phase: 'completed', attempts: 1, creditsCost: 2, durationMs: 1500 });
  t.same(stored, [`${jobId}-1/video.mp4`]);
  t.same(seen.at(-1), ['completed']);
  t.same(stops, []);
  t.equal(ends(), 1);
  t.same(logged, []);
});

/** An attempt at a job with a file that can't be had. */
async function setUpWithout(t: Test, error: Error) {
  const trees = { take: () => Promise.reject(error) };
  const { attempt, renderer, storage, jobId, job, logged } = await setUp(t, { trees });
  const files = { setId: 's', owner: newJob.owner, entries: [{ name: 'a.txt', fileId: 'f' }] };
  await storage.transaction((tx) => storage.files.use(tx, jobId, files));
  await attempt.begin(renderer);
  return { job: await job(), logged };
}

t.test('a job whose files do not fit on the disk waits', async (t) => {
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  const { job, logged } = await setUpWithout(t, full);
  t.match(job, { phase: 'queued', attempts: 0 });
  t.match(logged, [['error', 'The files of a job did not fit on the disk. The job waits.']]);
});

t.test('a job whose file is lost fails at once, and says so', async (t) => {
  const { job } = await setUpWithout(t, new ScenepressError('not_found', 'a.txt is lost'));
  t.match(job, { phase: 'failed', attempts: 1, error: 'a.txt is lost', failedBy: 'service', creditsCost: 0 });
});

t.test('a job whose record of files was lost fails at once, and says so', async (t) => {
  const { attempt, renderer, storage, job } = await setUp(t);
  const error = new ScenepressError('not_found', 'its files were lost');
  t.intercept(storage.files, 'usedBy', { value: () => Promise.reject(error) });
  await attempt.begin(renderer);
  t.match(await job(), { phase: 'failed', attempts: 1, error: error.message, failedBy: 'service' });
});

t.test('a scene that lacks a file is told if its owner had too many', async (t) => {
  for (const [entries, error] of [
    [[], /^no such file\nThe account has more than 500 files.*so the scene got none/],
    [[{ name: 'a.txt', fileId: 'f' }], /^no such file$/],
  ] as const) {
    const trees = { take: async () => ({ path: '/files', release() {} }) };
    const { run, storage, jobId, job } = await setUp(t, { trees });
    const set = { setId: 's', owner: newJob.owner, entries: [...entries] };
    await storage.transaction((tx) => storage.files.use(tx, jobId, set));
    await run({ ...failedScene, error: 'no such file' });
    t.match(await job(), { phase: 'failed', error });
  }
});

t.test('renders of owners who are not in good standing run in the background', async (t) => {
  const { begun, started, result, attempt } = await setUp(t, { inGoodStanding: false });
  begun();
  t.match(await started, [{ background: true }]);
  result.resolve(failedScene);
  await attempt.ended;
});

t.test('a render ends when its cost exceeds reserve and balance', async (t) => {
  const { begun, started, stops, attempt, job } = await setUp(t);
  begun();
  const [, events] = await started;
  events.onStarted();
  clock.advance(100_000);
  await turn();
  t.same(stops, []);
  clock.advance(1_000);
  await attempt.ended;
  t.same(stops, ['funds']);
  t.match(await job(), { phase: 'failed', failedBy: 'credits', durationMs: 3 });
  t.equal(clock.nextInMs, undefined, 'nothing is watched any longer');
});

t.test('a failed scene ends its job, and a later shortage starts with the shortest hold', async (t) => {
  const { run, hold, job, seen, discards, deleted } = await setUp(t);
  hold.begin();
  hold.end();
  await run(failedScene);
  t.match(await job(), { phase: 'failed', failedBy: 'scene', error: 'NameError', durationMs: 7 });
  t.same(seen, [['running'], ['failed']]);
  t.equal(hold.begin(), 1_000);
  await discards.settled();
  t.same(deleted, [], 'it stored nothing');
});

t.test('the first death of a renderer is counted, the second ends the job', async (t) => {
  const first = await setUp(t);
  first.hold.begin();
  first.hold.end();
  first.begun();
  first.result.resolve(died);
  await until(() => clock.nextInMs !== undefined);
  t.equal(clock.nextInMs, 100, 'a stop of the service may be the cause');
  clock.advance(100);
  await first.attempt.ended;
  t.match(await first.job(), { phase: 'queued', attempts: 1, interruptions: undefined });
  t.same(first.seen, [['running'], ['queued']]);
  t.equal(first.hold.begin(), 1_000);
  first.hold.end();

  const second = await setUp(t, {}, 2);
  second.begun();
  second.result.resolve(died);
  await until(() => clock.nextInMs !== undefined);
  clock.advance(100);
  await second.attempt.ended;
  t.match(await second.job(), {
    ...{ phase: 'failed', failedBy: 'service', attempts: 2, durationMs: 5 },
    error: /renderer failed 2 times/,
  });
  t.same(second.seen, [['running'], ['failed']]);
  await second.discards.settled();
  t.ok(second.deleted.includes(`${second.jobId}-1/video.mp4`), 'the first attempt may have stored it');
});

t.test('a renderer that dies while the service begins to stop is not counted', async (t) => {
  for (const when of ['before', 'after'] as const) {
    const { begun, result, attempt, stopping, job, seen, hold } = await setUp(t);
    if (when === 'before') stopping.abort();
    begun();
    result.resolve(died);
    if (when === 'after') {
      await until(() => clock.nextInMs !== undefined);
      clock.advance(99);
      stopping.abort();
    }
    await attempt.ended;
    t.match(await job(), { phase: 'queued', attempts: 0, interruptions: undefined });
    t.same(seen, [['running'], ['queued']]);
    t.notOk(hold.active);
  }
});

t.test('without a renderer or a resource, the job waits and new renders are held', async (t) => {
  for (const [isShortage, level, message] of [
    [true, 'warn', /resource for the render/],
    [false, 'warn', /No worker could start/],
  ] as const) {
    const { jobId, run, hold, job, logged, seen } = await setUp(t);
    await run({ ...unavailable, isShortage });
    t.match(await job(), { phase: 'queued', attempts: 0, interruptions: undefined });
    t.same(seen, [['running'], ['queued']]);
    t.equal(hold.active, true);
    t.equal(hold.isShortage, isShortage);
    t.match(logged, [[level, message, { jobId, reason: 'no renderer', againInMs: 1_000 }]]);
    hold.end();
  }
});

t.test('the death of a worker thread is an interruption, and holds nothing', async (t) => {
  const { run, hold, job } = await setUp(t);
  await run({ kind: 'interrupted', durationMs: 0, message: 'out of memory' });
  t.match(await job(), { phase: 'queued', attempts: 0, interruptions: 1 });
  t.notOk(hold.active);
});

t.test('the first reason for a stop counts, also before the render has started', async (t) => {
  for (const when of ['before', 'after'] as const) {
    const { begun, attempt, started, stops, job, seen } = await setUp(t);
    begun();
    if (when === 'after') await started;
    attempt.stop('funds');
    attempt.stop('shutdown');
    await attempt.ended;
    t.same(new Set(stops), new Set(['funds']), when);
    t.match(await job(), { phase: 'failed', failedBy: 'credits' });
    t.same(seen, [['running'], ['failed']]);
  }
});

t.test('a stop of the service requeues the job silently', async (t) => {
  for (const when of ['before', 'after'] as const) {
    const { begun, attempt, started, stopped, stops, job, seen } = await setUp(t);
    if (when === 'before') stopped.abort();
    begun();
    await started;
    if (when === 'after') attempt.stop('shutdown');
    await attempt.ended;
    t.same(stops, ['shutdown'], when);
    t.match(await job(), { phase: 'queued', attempts: 0, interruptions: undefined });
    t.same(seen, [['running']]);
  }
});

t.test('a reason that was given counts although the service stops', async (t) => {
  const { begun, attempt, stopped, stops, job } = await setUp(t);
  attempt.stop('funds');
  stopped.abort();
  begun();
  await attempt.ended;
  t.same(stops, ['funds']);
  t.match(await job(), { phase: 'failed', failedBy: 'credits' });
});

t.test('an attempt whose claim was lost changes nothing', async (t) => {
  const { begun, attempt, job, seen, claimed } = await setUp(t);
  attempt.stop('claim_lost');
  begun();
  await attempt.ended;
  t.same(await job(), claimed.job);
  t.same(seen, [['running']]);
});

t.test('an attempt whose claim is invalid removes what it stored and reports nothing', async (t) => {
  for (const how of ['rendered', 'failed', 'unavailable'] as const) {
    const { book, jobId, run, rendered, job, seen, stored, deleted, discards, logged } = await setUp(t);
    await book.cancel(jobId); // The signal is lost.
    const before = await job();
    const results = { rendered: await rendered(), failed: failedScene, unavailable };
    await run(results[how]);
    t.same(await job(), before);
    t.same(
      logged.filter(([level]) => level === 'error'),
      [],
    );
    t.same(seen, [['running']]);
    await discards.settled();
    t.same(stored, how === 'rendered' ? [`${jobId}-1/video.mp4`] : []);
    t.same(deleted.includes(`${jobId}-1/video.mp4`), how === 'rendered');
    t.same(deleted.length > 0, how === 'rendered', 'a failed render stored nothing');
  }
});

t.test('an attempt whose outcome is recorded already keeps its artifacts and reports it', async (t) => {
  for (const how of ['rendered', 'failed'] as const) {
    const { book, begun, result, attempt, rendered, job, seen, deleted, discards } = await setUp(t);
    const { finish } = book;
    let calls = 0;
    book.finish = async (...args) => {
      const ended = await finish.apply(book, args);
      if (++calls === 1) throw new Error('the answer was lost');
      return ended;
    };
    begun();
    result.resolve(how === 'rendered' ? await rendered() : failedScene);
    await until(() => clock.nextInMs === 500);
    clock.advance(500);
    await attempt.ended;
    await discards.settled();
    const phase = how === 'rendered' ? 'completed' : 'failed';
    t.match(await job(), { phase });
    t.equal(calls, 2);
    t.same(deleted.includes(`${(await job())?.jobId}-1/video.mp4`), false);
    t.same(deleted.includes(`${(await job())?.jobId}-1/video.index`), false);
    t.same(seen.at(-1), [phase]);
  }
});

t.test('a source that cannot be read is a failure of the service, or a shortage', async (t) => {
  const cases = [
    [Object.assign(new Error('EMFILE'), { code: 'EMFILE' }), { attempts: 0 }, true],
    [new Error('damaged'), { attempts: 1 }, false],
  ] as const;
  for (const [error, expected, isShortage] of cases) {
    const { storage, begun, attempt, job, hold, stops } = await setUp(t);
    t.intercept(storage, 'readSource', { value: () => Promise.reject(error) });
    begun();
    attempt.stop('canceled');
    await attempt.ended;
    t.match(await job(), { phase: 'queued', ...expected });
    t.equal(hold.isShortage, isShortage);
    t.same(stops, [], 'no render was started');
    hold.end();
  }
});

t.test('a job without a source is not rendered', async (t) => {
  const { storage, renderer, run, job, logged } = await setUp(t);
  renderer.render = () => t.fail('it must not be rendered') as never;
  t.intercept(storage, 'readSource', { value: async () => undefined });
  await run(failedScene);
  t.match(await job(), { phase: 'queued', attempts: 1 });
  t.match(logged, [['error', /failed in the service/, { err: { message: 'a job has its source' } }]]);
});

t.test('a result is recorded again until it succeeds', async (t) => {
  for (const step of ['finish', 'requeue'] as const) {
    const { book, begun, result, attempt, job, logged, seen } = await setUp(t);
    let failures = 2;
    const failing = async () => {
      if (failures-- > 0) throw new Error('the disk is full');
    };
    const { finish } = book;
    const { requeue } = book.claims;
    book.finish = async (...args) => {
      await failing();
      return finish.apply(book, args);
    };
    book.claims.requeue = async (...args) => {
      await failing();
      return requeue.apply(book.claims, args);
    };
    begun();
    result.resolve(
      step === 'finish' ? failedScene : { kind: 'interrupted', durationMs: 0, message: 'it ended' },
    );
    for (const ms of [500, 1_000]) {
      await until(() => clock.nextInMs !== undefined);
      t.equal(clock.nextInMs, ms);
      clock.advance(ms);
    }
    await attempt.ended;
    t.match(await job(), { phase: step === 'finish' ? 'failed' : 'queued' });
    t.equal(seen.length, 2);
    t.equal(
      logged.filter(([, message]) => /Recording the state of a job failed/.test(String(message))).length,
      2,
    );
  }
});

t.test('a stop ends the repetitions', async (t) => {
  const { book, begun, result, attempt, job, claimed, stopped, logged, seen, discards, deleted } =
    await setUp(t);
  book.finish = () => Promise.reject(new Error('the disk is full'));
  begun();
  result.resolve(failedScene);
  await until(() => clock.nextInMs !== undefined);
  stopped.abort();
  await attempt.ended;
  t.same(await job(), claimed.job, 'the next start recovers it');
  t.match(logged, [['error', /Recording the state/, {}]]);
  t.equal(logged.length, 1);
  t.same(seen, [['running']]);
  await discards.settled();
  t.same(deleted, []);
});

t.test('a job is requeued if concluding its attempt fails', async (t) => {
  const { jobId, hold, run, job, logged } = await setUp(t);
  hold.begin = () => {
    throw new Error('unexpected');
  };
  await run(unavailable);
  t.match(await job(), { phase: 'queued', attempts: 0, interruptions: 1 });
  t.match(logged, [['error', /Recording the end/, { jobId, err: { message: 'unexpected' } }]]);
});

t.test('an attempt ends whatever a listener does', async (t) => {
  const { jobId, events, hold, run, job, logged, ends } = await setUp(t);
  hold.begin = () => {
    throw new Error('unexpected');
  };
  events.on('change', ({ phase }) => {
    if (phase === 'queued') throw new Error('thrown by a listener');
  });
  await run(unavailable);
  t.equal(ends(), 1);
  t.match(await job(), { phase: 'queued' });
  t.match(logged.at(-1), ['error', /ended unexpectedly/, { jobId, err: { message: /listener/ } }]);
});

t.test('the end of a job is logged, with the times of its work', async (t) => {
  const infos: unknown[][] = [];
  const logger: Logger = { ...silentLogger, info: (details, message) => infos.push([message, details]) };
  const { jobId, run } = await setUp(t, { logger });
  const usage = { stagesMs: {}, workMs: { tex: 5, draw: 6 }, peakMemoryBytes: 9, copiedFrames: 7 };
  await run({ ...failedScene, output: '', usage } as never);
  const ended = { jobId, status: 'failed', failedBy: 'scene', quality: 'low', durationMs: 7 };
  t.same(infos, [['job', { ...ended, texMs: 5, drawMs: 6, peakMemoryBytes: 9, copiedFrames: 7 }]]);
});

t.test('a job whose outcome is recorded ends when its ledger answers, without the worker', async (t) => {
  const infos: unknown[] = [];
  const asked: string[] = [];
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { jobId, run, book, storage, job } = await setUp(t, {
    logger: { ...silentLogger, info: (details) => infos.push(details) },
    cancellations: {
      complete: async (id) => {
        asked.push(id);
        await answered;
        return job();
      },
    },
  });
  book.finish = () => Promise.reject(new Error('the ledger does not answer'));
  const getJob = storage.getJob.bind(storage);
  storage.getJob = async (id, tx) => {
    const found = await getJob(id, tx);
    return found && { ...found, phase: 'settling' };
  };
  await run(failedScene);
  t.same(asked, [jobId]);
  t.same(infos, []);
  answer();
  await until(() => infos.length === 1);
  t.match(infos, [{ jobId }]);
});

t.test(
  'a failure of TeX while its packages change is not counted: the job waits without a worker',
  async (t) => {
    for (const when of ['before', 'during'] as const) {
      const tex = new TexInstallation();
      let idle = 0;
      const onIdle = () => {
        idle += 1;
      };
      const { begun, started, result, attempt, job, seen, hold } = await setUp(t, { tex, onIdle });
      if (when === 'before') tex.enter('changing');
      const ended = begun();
      const [task] = await started;
      t.equal(task.isTexHeld, when === 'before' ? true : undefined);
      tex.enter('changing');
      t.notOk(attempt.isIdle);
      result.resolve(failedTex());
      await until(() => attempt.isIdle);
      t.match(await job(), { phase: 'running' });
      t.equal(idle, 1);
      tex.enter('complete');
      await ended;
      t.match(await job(), { phase: 'queued', attempts: 0, interruptions: undefined });
      t.same(seen, [['running'], ['queued']]);
      t.notOk(hold.active);
    }
  },
);

t.test('other failures, and those of TeX that no change can have caused, end the job', async (t) => {
  const tex = new TexInstallation();
  tex.enter('changing');
  const ofScene = await setUp(t, { tex });
  await ofScene.run(failedScene);
  t.match(await ofScene.job(), { phase: 'failed', failedBy: 'scene' });
  tex.enter('incomplete');
  const ofTex = await setUp(t, { tex });
  await ofTex.run({ ...failedTex(), error: "TeX: the program 'xelatex' isn't there." } as RenderResult);
  t.match(await ofTex.job(), {
    phase: 'failed',
    failedBy: 'tex',
    error: /isn't there\.\nThis service is still/,
  });
});

t.test('a job that waits for TeX ends when it is canceled, and with the service', async (t) => {
  for (const how of ['canceled', 'stopping'] as const) {
    const tex = new TexInstallation();
    tex.enter('changing');
    const { begun, result, attempt, stopping, job } = await setUp(t, { tex });
    const ended = begun();
    result.resolve(failedTex());
    await until(() => attempt.isIdle);
    if (how === 'canceled') attempt.stop('canceled');
    else stopping.abort();
    await ended;
    t.match(await job(), {
      phase: how === 'canceled' ? 'running' : 'queued',
      attempts: how === 'canceled' ? 1 : 0,
    });
    t.equal(tex.listenerCount('change'), 0);
  }
});
