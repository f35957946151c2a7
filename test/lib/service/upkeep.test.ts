import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { KEEP_ALL } from '../../../lib/assets/retention.ts';
import { type Logger, silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { MOST_RESERVING_MS } from '../../../lib/jobs/end/job-ending.ts';
import { Upkeep, type UpkeepOptions } from '../../../lib/service/upkeep.ts';
import type { Storage } from '../../../lib/storage/storage.ts';
import { turn } from '../../../lib/time/clock.ts';
import { clock, completed, newJob, openDistant, openStored } from '../../fixtures/books.ts';
import { claimJobs } from '../../fixtures/claims.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import type { JobBook } from '../../fixtures/job-book.ts';
import { openPostgres, run } from '../../fixtures/postgres/database.ts';

const NO_SNAPSHOTS: UpkeepOptions['snapshots'] = { recover: async () => ({ removed: 0, left: 0 }) };
const NO_FILES: UpkeepOptions['fileRemoval'] = { recover: async () => {} };

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

t.test('what a purge put off is removed from the disk every hour', async (t) => {
  const { book, storage, ledger } = await openStored(t);
  const failure = new Error('the tables are in use');
  let purges = 0;
  const purgeDue = async () => {
    purges += 1;
    throw failure;
  };
  let logged = Promise.withResolvers<[object, string]>();
  const upkeep = new Upkeep({
    snapshots: NO_SNAPSHOTS,
    fileRemoval: NO_FILES,
    storage: Object.assign(storage, { purgeDue }),
    ledger,
    admission: book,
    claims: book.claims,
    ending: book,
    retention: {},
    logger: { ...silentLogger, error: (...entry: [object, string]) => logged.resolve(entry) },
    clock,
  } as unknown as UpkeepOptions);
  upkeep.start();
  t.teardown(() => upkeep.stop());
  for (let hours = 1; hours <= 2; hours++) {
    clock.advance(3_600_000);
    t.match(await logged.promise, [{ err: failure }, /^Forgotten texts could not be removed from the files/]);
    t.equal(purges, hours);
    logged = Promise.withResolvers();
  }
});

t.test('every five minutes, old snapshots are removed, again after an error', async (t) => {
  const { book, storage, ledger } = await openStored(t);
  const failure = new Error('the ledger does not answer');
  let calls = 0;
  const recover = async () => {
    calls += 1;
    throw failure;
  };
  let logged = Promise.withResolvers<[object, string]>();
  const upkeep = new Upkeep({
    ...{ storage, ledger, clock, admission: book, claims: book.claims, ending: book, retention: {} },
    snapshots: { recover },
    fileRemoval: NO_FILES,
    logger: { ...silentLogger, error: (...entry: [object, string]) => logged.resolve(entry) },
  } as unknown as UpkeepOptions);
  upkeep.start();
  t.teardown(() => upkeep.stop());
  for (let times = 1; times <= 2; times++) {
    clock.advance(5 * 60_000);
    t.same(await logged.promise, [{ err: failure }, 'Removing old snapshots failed.']);
    t.equal(calls, times);
    logged = Promise.withResolvers();
  }
});

t.test('in a shared storage, jobs of a dead worker are requeued', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const { book, storage, ledger } = await openStored(t);
  const again = Promise.withResolvers<object>();
  const runningIds: string[] = [];
  const upkeep = new Upkeep({
    snapshots: NO_SNAPSHOTS,
    fileRemoval: NO_FILES,
    storage: Object.assign(storage, { isShared: true }),
    ledger,
    admission: book,
    claims: book.claims,
    ending: book,
    dispatcher: { runningIds },
    events: new EventEmitter().on('change', again.resolve),
    logger: silentLogger,
    clock,
  } as unknown as UpkeepOptions);
  upkeep.start();
  t.teardown(() => upkeep.stop());
  const { jobId } = (await book.add(newJob)).job;
  await book.add({ ...newJob, owner: 'b' });
  await claimJobs(book, { most: 1, worker: 'dead' });
  const [mine] = await claimJobs(book, { most: 1, worker: 'mine' });
  runningIds.push(mine?.claim.jobId ?? '');
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
    snapshots: NO_SNAPSHOTS,
    fileRemoval: NO_FILES,
    storage: Object.assign(storage, { isShared: true }),
    ledger,
    admission: book,
    claims: book.claims,
    ending: book,
    dispatcher: { runningIds: ['another'] },
    events: new EventEmitter(),
    logger: { ...silentLogger, warn: warned.resolve },
    clock,
  } as unknown as UpkeepOptions);
  upkeep.start();
  t.teardown(() => upkeep.stop());
  const looked = lookedAt(book);
  clock.advance(10_000);
  await looked;
  t.equal((await storage.unfinishedJobs()).length, 1, 'its process may be reserving them');
  let isWarned = false;
  void warned.promise.then(() => {
    isWarned = true;
  });
  clock.advance(MOST_RESERVING_MS);
  // Again and again, because a task that still ends is not run a second time.
  while (!isWarned) {
    clock.advance(10_000);
    await turn();
  }
  t.same(await warned.promise, { jobs: 1 });
  t.equal(ledger.balanceCredits, 100);
  t.same(await storage.unfinishedJobs(), []);
});

/** Resolves after the next search for abandoned jobs. */
function lookedAt(book: JobBook): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const resumeAbandoned = book.resumeAbandoned.bind(book);
  book.resumeAbandoned = () => resumeAbandoned().finally(resolve);
  return promise;
}

t.test('in a shared storage, jobs that a dead process left settling are settled', async (t) => {
  const { book, storage, ledger, begin } = await openDistant(t);
  const { jobId } = (await book.add(newJob)).job;
  const { claim } = await begin(jobId);
  ledger.fault = 'before';
  await t.rejects(book.finish(claim, completed(3), { durationMs: 1 }));
  const changed = Promise.withResolvers<object>();
  const warned: string[] = [];
  const upkeep = new Upkeep({
    snapshots: NO_SNAPSHOTS,
    fileRemoval: NO_FILES,
    storage: Object.assign(storage, { isShared: true }),
    ledger,
    admission: book,
    claims: book.claims,
    ending: book,
    dispatcher: { runningIds: ['another'] },
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
    const options = {
      storage: { alone },
      ledger,
      admission: book,
      retention: {},
      logger: silentLogger,
      clock,
    };
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

/** Two upkeeps on one database that count what they do. */
async function twoUpkeeps(t: Test) {
  const one = await openPostgres(t);
  const schedules = new FakeClock('2026-11-21T10:00:00Z');
  const found = { audits: 0, tidyings: 0, problems: [] as string[] };
  const tasks: Promise<unknown>[] = [];
  const upkeeps = [one, await openPostgres(t, { schema: one.schema })].map((storage) => {
    const alone = storage.alone.bind(storage);
    storage.alone = (task, work) => {
      const done = alone(task, work);
      tasks.push(done);
      return done;
    };
    const upkeep = new Upkeep({
      snapshots: NO_SNAPSHOTS,
      fileRemoval: NO_FILES,
      storage,
      ledger: {
        audit: async () => {
          found.audits += 1;
          return { problems: found.problems };
        },
      },
      claims: { putBackLapsed: async () => [] },
      admission: {
        forgetOldRequests: async () => {
          found.tidyings += 1;
        },
      },
      ending: { resumeAbandoned: async () => ({ withdrawn: 0, ended: [], errors: [] }) },
      retention: KEEP_ALL,
      dispatcher: { runningIds: ['another'] },
      logger: silentLogger,
      clock: schedules,
      random: systemRandom,
    } as unknown as UpkeepOptions);
    t.teardown(() => upkeep.stop());
    return upkeep;
  });
  const ended = async () => {
    while (tasks.length > 0) await tasks.shift();
  };
  /** As if the time of what was done had passed. */
  const later = () => run('UPDATE leaders SET lapses_at = now()', { schema: one.schema });
  return { upkeeps, found, schedules, ended, later };
}

t.test('processes that share a database audit it once when they start, and tidy once an hour', async (t) => {
  const { upkeeps, found, schedules, ended, later } = await twoUpkeeps(t);
  for (const upkeep of upkeeps) {
    upkeep.start();
    await ended();
  }
  t.equal(found.audits, 1);
  for (const hours of [1, 2]) {
    schedules.advance(3_600_000);
    await ended();
    t.equal(found.tidyings, hours);
    await later();
  }
});

t.test('processes that share a database audit it once a night', async (t) => {
  const { upkeeps, found, later } = await twoUpkeeps(t);
  for (const nights of [1, 2]) {
    for (const upkeep of upkeeps) await upkeep.nightly();
    t.equal(found.audits, nights);
    await later();
  }
  t.same(
    upkeeps.map(({ bookProblems }) => bookProblems),
    [0, 0],
  );
});

t.test('problems that are mended are forgotten when another process audits the books', async (t) => {
  const { upkeeps, found, later } = await twoUpkeeps(t);
  const [first, second] = upkeeps;
  found.problems.push('too little');
  await first?.nightly();
  t.equal(first?.bookProblems, 1);
  found.problems.length = 0;
  await later();
  await second?.nightly();
  await first?.nightly();
  t.equal(first?.bookProblems, 0);
});

t.test('problems in the books are found by each process that audits a shared database', async (t) => {
  const { upkeeps, found } = await twoUpkeeps(t);
  found.problems.push('too little');
  for (const upkeep of upkeeps) await upkeep.nightly();
  t.same(
    upkeeps.map(({ bookProblems }) => bookProblems),
    [1, 1],
  );
});
