import t, { type Test } from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import { systemRandom } from '../../../../lib/base/random.ts';
import { type Logger, ScenepressError, type Transaction } from '../../../../lib/index.ts';
import { LEASE_MS } from '../../../../lib/jobs/run/job-claims.ts';
import { Pricing } from '../../../../lib/ledger/pricing.ts';
import type { Claim } from '../../../../lib/storage/queue/queue.ts';
import type { TransactionOptions } from '../../../../lib/storage/transaction.ts';
import { clock, completed, failed, newJob, openDistant, openStored } from '../../../fixtures/books.ts';
import { claimJobs } from '../../../fixtures/claims.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { JobBook } from '../../../fixtures/job-book.ts';

for (const [name, open] of [
  ['a ledger that joins transactions', openStored],
  ['an external ledger', openDistant],
] as const) {
  t.test(`claims, with ${name}`, async (t) => {
    t.test('a worker whose claim has lapsed can change nothing', async (t) => {
      const { book, storage, ledger, begin } = await open(t);
      const { jobId } = (await book.add(newJob)).job;
      const { claim: old } = await begin(jobId);
      clock.advance(LEASE_MS);
      t.match(await book.claims.putBackLapsed({ except: ['another'] }), [{ jobId, interruptions: 1 }]);
      const waiting = await storage.getJob(jobId);
      t.equal(await book.claims.requeue(old, { counted: true }), undefined);
      t.equal(await book.finish(old, completed(3), { durationMs: 1 }), undefined);
      t.same(await book.claims.renew([old]), []);
      t.same(await storage.getJob(jobId), waiting);
      const { claim, job: running } = await begin(jobId);
      t.equal(await book.claims.requeue(old, { counted: true }), undefined);
      t.equal(await book.finish(old, failed, { durationMs: 1 }), undefined);
      t.same(await book.claims.renew([old, claim]), [claim]);
      t.same(await storage.getJob(jobId), running);
      t.match(await book.finish(claim, completed(3), { durationMs: 1 }), { job: { phase: 'completed' } });
      t.equal(await book.finish(old, failed, { durationMs: 1 }), undefined);
      t.equal(await ledger.available('a'), 97);
    });

    t.test('a queued job can be canceled and is then not claimed', async (t) => {
      const { book, ledger } = await open(t);
      const { jobId } = (await book.add(newJob)).job;
      const { job: canceled } = (await book.cancel(jobId)) ?? {};
      t.match(canceled, { phase: 'failed', error: 'Canceled', failedBy: 'cancel', durationMs: 0 });
      t.same(await claimJobs(book), []);
      t.equal(await ledger.available('a'), 100);
      t.equal(await book.cancel(jobId), undefined, 'it has ended');
      t.equal(await book.cancel('unknown'), undefined);
    });

    t.test('canceling a running job ends it immediately and invalidates its claim', async (t) => {
      const { book, storage, ledger, begin } = await open(t, 100);
      const { jobId } = (await book.add(newJob)).job;
      const { claim } = await begin(jobId);
      clock.advance(1234);
      const { job: canceled, orphans = [] } = (await book.cancel(jobId)) ?? {};
      t.match(canceled, { phase: 'failed', error: 'Canceled', durationMs: 1234, attempts: 1 });
      t.same(await book.claims.renew([claim]), []);
      t.equal(await book.claims.requeue(claim), undefined);
      t.equal(await book.finish(claim, completed(3), { durationMs: 1 }), undefined);
      t.same(await storage.getJob(jobId), canceled);
      t.equal(await ledger.available('a'), 100);
      t.ok(orphans.includes(`${jobId}-${claim.token}/video.mp4`), 'it may have stored something');
    });

    t.test('the caps of queued jobs are enforced', async (t) => {
      const { book, ledger, storage, begin } = await open(t, 100, {
        caps: { maxQueued: 10, maxQueuedPerOwner: 2 },
      });
      const first = (await book.add(newJob)).job;
      await book.add(newJob);
      await t.rejects(book.add(newJob), { code: 'queue_full' });
      t.equal(await ledger.available('a'), 90, 'nothing is reserved');
      await book.add({ ...newJob, owner: 'b' });
      await begin(first.jobId);
      await book.add(newJob);
      const many = await Promise.allSettled(
        Array.from({ length: 9 }, () => book.add({ ...newJob, owner: 'c' })),
      );
      t.equal(many.filter(({ status }) => status === 'fulfilled').length, 2, 'also for concurrent requests');
      t.equal((await storage.queue.state()).waiting, 5);
    });
  });
}

t.test('a claim lapses when its lease ends, which a renewal extends', async (t) => {
  const { book, begin } = await openStored(t);
  const { jobId } = (await book.add(newJob)).job;
  const { claim } = await begin(jobId);
  clock.advance(LEASE_MS - 1);
  t.same(await book.claims.putBackLapsed({ except: ['another'] }), []);
  t.same(await book.claims.renew([claim]), [claim]);
  clock.advance(LEASE_MS - 1);
  t.same(await book.claims.putBackLapsed({ except: ['another'] }), []);
  clock.advance(1);
  t.match(await book.claims.putBackLapsed({ except: ['another'] }), [
    { jobId, phase: 'queued', attempts: 0 },
  ]);
});

t.test('leases end by the clock of the storage, not by those of the machines that share it', async (t) => {
  const { book, storage, ledger } = await openStored(t);
  let serverMs = clock.now() - 3_600_000;
  Object.assign(storage, { nowMs: async () => serverMs });
  const ahead = new FakeClock(new Date(clock.now() + 2 * LEASE_MS).toISOString());
  const pricing = new Pricing();
  const other = new JobBook({ storage, ledger, pricing, clock: ahead, random: systemRandom });
  const { jobId } = (await book.add(newJob)).job;
  const [claimed] = await claimJobs(book);
  serverMs += LEASE_MS - 1;
  t.same(await other.claims.putBackLapsed({ except: ['another'] }), []);
  t.same(await other.claims.renew([claimed?.claim as Claim]), [claimed?.claim]);
  serverMs += LEASE_MS - 1;
  t.same(await book.claims.putBackLapsed({ except: ['another'] }), []);
  serverMs += 1;
  t.match(await book.claims.putBackLapsed({ except: ['another'] }), [{ jobId, phase: 'queued' }]);
});

t.test('what workers do with their claims is urgent', async (t) => {
  for (const open of [openStored, openDistant]) {
    const { book, storage } = await open(t);
    const urgent: boolean[] = [];
    const transaction = storage.transaction.bind(storage);
    t.intercept(storage, 'transaction', {
      value: (work: (tx: Transaction) => Promise<unknown>, options?: TransactionOptions) => {
        urgent.push(options?.isUrgent ?? false);
        return transaction(work);
      },
    });
    const jobs = [(await book.add(newJob)).job, (await book.add(newJob)).job];
    t.notOk(urgent.splice(0).includes(true), 'not adding a job');
    const [first, second] = (await claimJobs(book)).map(({ claim }) => claim) as [Claim, Claim];
    await book.claims.renew([first, second]);
    await book.claims.putBackLapsed({ except: ['another'] });
    await book.claims.requeue(first);
    await book.finish(second, completed(1), { durationMs: 1 });
    t.notOk(urgent.splice(0).includes(false));
    await book.cancel(first.jobId);
    t.notOk(urgent.includes(true), 'not canceling a job');
    const ended = await Promise.all(jobs.map(({ jobId }) => storage.getJob(jobId)));
    t.same(ended.map((job) => job?.phase).sort(), ['completed', 'failed']);
  }
});

t.test('all lapsed claims are put back, in steps of 100', async (t) => {
  const { book } = await openStored(t, 10_000);
  const jobs: string[] = [];
  for (let count = 0; count < 101; count++) jobs.push((await book.add(newJob)).job.jobId);
  await claimJobs(book);
  clock.advance(LEASE_MS);
  const back = await book.claims.putBackLapsed();
  t.same(back.map(({ jobId }) => jobId).sort(), jobs.sort());
  t.same(await book.claims.putBackLapsed(), []);
});

t.test('a requeued job waits with its attempts, counted or not', async (t) => {
  const { book, storage, begin } = await openStored(t);
  const { jobId } = (await book.add(newJob)).job;
  const requeue = async (options?: { counted?: boolean; interrupted?: boolean }) =>
    book.claims.requeue((await begin(jobId)).claim, options);
  const back = await requeue();
  t.match(back, { phase: 'queued', attempts: 0 });
  t.notOk('interruptions' in (back ?? {}));
  t.same(await storage.getJob(jobId), back);
  t.match(await requeue({ interrupted: true }), { attempts: 0, interruptions: 1 });
  t.match(await requeue({ counted: true }), { attempts: 1, interruptions: 1 });
  t.match(await requeue(), { attempts: 1 }, 'the last attempt that counts is in progress');
  t.equal(await requeue({ counted: true }), undefined, 'it was the last attempt');
  t.match(await storage.getJob(jobId), { phase: 'running', attempts: 2 });
});

/** A book with two jobs; the first can't be read while it is in `unreadable`. */
async function openWithUnreadable(t: Test) {
  const errors: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (details) => errors.push(details) };
  const { book, storage } = await openStored(t, 100, { logger });
  const [broken, whole] = [(await book.add(newJob)).job, (await book.add(newJob)).job];
  const unreadable = new Set<string>();
  const getJob = storage.getJob.bind(storage);
  t.intercept(storage, 'getJob', {
    value: async (jobId: string, tx?: Transaction) => {
      if (unreadable.has(jobId)) throw new ScenepressError('storage_damaged', 'The row is damaged.');
      return getJob(jobId, tx);
    },
  });
  return { book, broken, whole, unreadable, errors };
}

t.test('an unreadable job of a dead worker does not block others', async (t) => {
  const { book, broken, whole, unreadable, errors } = await openWithUnreadable(t);
  await claimJobs(book);
  clock.advance(LEASE_MS);
  unreadable.add(broken.jobId);
  t.match(await book.claims.putBackLapsed(), [{ jobId: whole.jobId, phase: 'queued' }]);
  t.match(errors, [{ jobId: broken.jobId, err: { code: 'storage_damaged' } }]);
  unreadable.clear();
  t.same(await book.claims.putBackLapsed({ except: ['another'] }), []);
  clock.advance(300_000);
  t.match(
    await book.claims.putBackLapsed({ except: ['another'] }),
    [{ jobId: broken.jobId }],
    'it is put back later',
  );
});

t.test('an unreadable job does not block others', async (t) => {
  const { book, broken, whole, unreadable, errors } = await openWithUnreadable(t);
  unreadable.add(broken.jobId);
  t.match(await claimJobs(book), [{ claim: { jobId: whole.jobId } }]);
  t.match(errors, [{ jobId: broken.jobId, err: { code: 'storage_damaged' } }]);
  unreadable.clear();
  t.same(await claimJobs(book), []);
  clock.advance(300_000);
  t.match(await claimJobs(book), [{ claim: { jobId: broken.jobId } }], 'it is claimed later');
});
