import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import t from 'tap';
import { turn } from '../../lib/clock.ts';
import type { Storage } from '../../lib/index.ts';
import { MOST_RESERVING_MS } from '../../lib/jobs/job-book.ts';
import { type Logger, silentLogger } from '../../lib/logger.ts';
import { Upkeep, type UpkeepOptions } from '../../lib/upkeep.ts';
import { clock, completed, newJob, openDistant, openStored } from '../fixtures/books.ts';
import { claimJobs } from '../fixtures/claims.ts';

function upkeepOf(storage: Partial<Storage>): { upkeep: Upkeep; errors: [object, string][] } {
  const errors: [object, string][] = [];
  const logger = { info: () => {}, error: (...args: [object, string]) => errors.push(args) };
  const alone: Storage['alone'] = (_, work) => work();
  const options = { storage: { alone, ...storage }, ledger: {}, logger: logger as unknown as Logger };
  return { upkeep: new Upkeep(options as unknown as UpkeepOptions), errors };
}

t.test('damage found by the nightly check is logged', async (t) => {
  const { upkeep, errors } = upkeepOf({ check: async () => ['row 2 missing from index jobs_in_phase'] });
  await upkeep.nightly();
  t.match(errors, [[{ problems: [/row 2/] }, /The storage is damaged.*scenepress recover/]]);
});

t.test('an intact storage, or one without a check, logs no error', async (t) => {
  for (const storage of [{ check: async () => [] }, {}]) {
    const { upkeep, errors } = upkeepOf(storage);
    await upkeep.nightly();
    t.same(errors, []);
  }
});

t.test('in a shared storage, jobs of a dead worker are requeued', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const { book, storage, ledger } = await openStored(t);
  const again = Promise.withResolvers<object>();
  const upkeep = new Upkeep({
    storage: Object.assign(storage, { isShared: true }),
    ledger,
    book,
    dispatcher: { worker: 'mine' },
    events: new EventEmitter().on('change', again.resolve),
    logger: silentLogger,
    clock,
  } as unknown as UpkeepOptions);
  upkeep.start();
  t.teardown(() => upkeep.stop());
  const { jobId } = (await book.add(newJob)).job;
  await book.add({ ...newJob, owner: 'b' });
  await claimJobs(book, { most: 1, worker: 'dead' });
  await claimJobs(book, { most: 1, worker: 'mine' });
  clock.advance(30_000);
  mock.timers.tick(10_000);
  t.match(await again.promise, { jobId, phase: 'queued', interruptions: 1 });
  t.match(await storage.queue.state(), { waiting: 1, running: 1 });
});

t.test('in a shared storage, credits reserved by a dead process are released', async (t) => {
  const { book, storage, ledger } = await openDistant(t);
  // The reserve is never answered: its process has died.
  const reserved = Promise.withResolvers<void>();
  const reserve = ledger.reserve.bind(ledger);
  ledger.reserve = async (request) => {
    await reserve(request);
    reserved.resolve();
    return new Promise(() => {});
  };
  void book.add(newJob);
  await reserved.promise;
  const warned = Promise.withResolvers<object>();
  const upkeep = new Upkeep({
    storage: Object.assign(storage, { isShared: true }),
    ledger,
    book,
    dispatcher: { worker: 'mine' },
    events: new EventEmitter(),
    logger: { ...silentLogger, warn: warned.resolve },
    clock,
  } as unknown as UpkeepOptions);
  upkeep.start();
  t.teardown(() => upkeep.stop());
  clock.advance(MOST_RESERVING_MS);
  t.same(await warned.promise, { jobs: 1 });
  t.equal(ledger.balanceCredits, 100);
  t.same(await storage.unfinishedJobs(), []);
});

t.test('in a shared storage, jobs that a dead process left settling are settled', async (t) => {
  const { book, storage, ledger, begin } = await openDistant(t);
  const { jobId } = (await book.add(newJob)).job;
  const { claim } = await begin(jobId);
  ledger.fault = 'before';
  await t.rejects(book.finish(claim, completed(3), { durationMs: 1 }));
  const changed = Promise.withResolvers<object>();
  const warned: string[] = [];
  const upkeep = new Upkeep({
    storage: Object.assign(storage, { isShared: true }),
    ledger,
    book,
    dispatcher: { worker: 'mine' },
    discards: { add: () => {} },
    events: new EventEmitter().on('change', changed.resolve),
    logger: { ...silentLogger, warn: (_: object, message: string) => warned.push(message) },
    clock,
  } as unknown as UpkeepOptions);
  upkeep.start();
  t.teardown(() => upkeep.stop());
  let looks = 0;
  const resumeAbandoned = book.resumeAbandoned.bind(book);
  book.resumeAbandoned = () => resumeAbandoned().finally(() => looks++);
  clock.advance(10_000);
  while (looks === 0) await turn();
  t.match(await storage.getJob(jobId), { phase: 'settling' }, 'its process may be settling it');
  // Again and again, because a task that still ends is not run a second time.
  for (const before = looks; looks === before; await turn()) clock.advance(10_000);
  t.match(await changed.promise, { jobId, phase: 'completed', creditsCost: 3 });
  t.match(warned, [/Settled jobs whose process died/]);
});

t.test(
  'idempotency keys are forgotten when they are old, but not by a clock that was set far ahead',
  async (t) => {
    const { book, storage, ledger } = await openStored(t);
    const tidied: Promise<unknown>[] = [];
    const alone: Storage['alone'] = (task, work) => {
      const done = storage.alone(task, work);
      if (task === 'tidying') tidied.push(done);
      return done;
    };
    const options = { storage: { alone }, ledger, book, retention: {}, logger: silentLogger, clock };
    const upkeep = new Upkeep(options as unknown as UpkeepOptions);
    upkeep.start();
    t.teardown(() => upkeep.stop());
    const passHours = async (hours: number) => {
      const { length } = tidied;
      for (const untilMs = clock.uptimeMs() + hours * 3_600_000; clock.uptimeMs() < untilMs; ) {
        clock.advance(600_000);
        await Promise.all(tidied);
      }
      t.ok(tidied.length > length);
    };
    const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
    const { jobId } = (await book.add(request)).job;

    const behindMs = Date.parse('2046-11-21') - clock.now();
    clock.set(new Date(clock.now() + behindMs).toISOString());
    await passHours(0.5);
    clock.set(new Date(clock.now() - behindMs).toISOString());
    await passHours(20);
    t.equal((await book.add(request)).job.jobId, jobId);
    await passHours(6);
    t.not((await book.add(request)).job.jobId, jobId);
  },
);
