import { EventEmitter } from 'node:events';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../../lib/base/logger.ts';
import { type AssetStore, LocalSignals, ScenepressError } from '../../../../lib/index.ts';
import { Cancellations } from '../../../../lib/jobs/end/cancellations.ts';
import { Discards } from '../../../../lib/jobs/end/discards.ts';
import type { JobEvents } from '../../../../lib/model/job-events.ts';
import { clock, completed, newJob, openDistant } from '../../../fixtures/books.ts';
import { until } from '../../../fixtures/until.ts';

async function setUp(t: Test) {
  const opened = await openDistant(t);
  const { book, storage } = opened;
  const events: JobEvents = new EventEmitter();
  const changes: string[] = [];
  events.on('change', ({ jobId, phase }) => changes.push(`${jobId} ${phase}`));
  const signals = new LocalSignals();
  const canceled: string[] = [];
  signals.subscribe((signal) => {
    if (signal.kind === 'canceled') canceled.push(signal.jobId);
  });
  const deleted: string[] = [];
  const assets = { delete: async (key: string) => void deleted.push(key) } as unknown as AssetStore;
  const discards = new Discards({ assets, logger: silentLogger });
  const logger = silentLogger;
  const cancellations = new Cancellations({
    ending: book,
    storage,
    signals,
    logger,
    discards,
    events,
    clock,
  });
  return { ...opened, cancellations, changes, canceled, deleted, discards };
}

t.test('a canceled job is reported, its worker notified, and its artifacts removed', async (t) => {
  const { book, begin, cancellations, changes, canceled, deleted, discards } = await setUp(t);
  const { jobId } = (await book.add(newJob)).job;
  await begin(jobId);
  await cancellations.cancel(jobId);
  t.same(changes, [`${jobId} failed`]);
  t.same(canceled, [jobId]);
  await discards.settled();
  t.equal(deleted.length, 4);
  await cancellations.cancel(jobId);
  t.same(changes, [`${jobId} failed`], 'a second time there is nothing to report');
});

t.test('a cancellation completes when the ledger answers again', async (t) => {
  const { book, storage, ledger, cancellations, changes, canceled } = await setUp(t);
  const { jobId } = (await book.add(newJob)).job;
  ledger.faults = () => 'before';
  await cancellations.cancel(jobId);
  t.same(canceled, [jobId]);
  t.match(await storage.getJob(jobId), { phase: 'settling' });
  t.same(changes, []);
  ledger.faults = undefined;
  await until(() => clock.nextInMs !== undefined || changes.length > 0);
  clock.advance(30_000);
  await until(() => changes.length === 1);
  t.same(changes, [`${jobId} failed`]);
  t.equal(ledger.balanceCredits, 100);
});

t.test('a stop ends the retries', async (t) => {
  const { book, ledger, cancellations, changes } = await setUp(t);
  const { jobId } = (await book.add(newJob)).job;
  ledger.faults = () => 'before';
  await book.cancel(jobId).catch(() => {});
  const resumed = cancellations.complete(jobId);
  await until(() => clock.nextInMs !== undefined);
  cancellations.stop();
  await resumed;
  t.equal(clock.nextInMs, undefined);
  ledger.faults = undefined;
  await cancellations.complete(jobId);
  t.same(changes, [`${jobId} failed`], 'and it can be resumed later');
});

t.test(
  'a cancellation that is not committed is rejected, and one that finds the disk full repeated once',
  async (t) => {
    const { book, begin, storage, cancellations, canceled } = await setUp(t);
    const { jobId } = (await book.add(newJob)).job;
    const cancel = book.cancel.bind(book);
    let calls = 0;
    const failWith = (...codes: ('storage_failed' | 'storage_full')[]) => {
      calls = 0;
      book.cancel = async (jobId) => {
        calls += 1;
        const code = codes.shift();
        if (code) throw new ScenepressError(code, 'It failed.');
        return cancel(jobId);
      };
    };
    failWith('storage_failed');
    await t.rejects(cancellations.cancel(jobId), { code: 'storage_failed' });
    t.equal(calls, 1);
    await begin(jobId);
    failWith('storage_full', 'storage_full');
    await t.rejects(cancellations.cancel(jobId), { code: 'storage_full' });
    t.equal(calls, 2);
    t.same(canceled, []);
    failWith('storage_full');
    await cancellations.cancel(jobId);
    t.equal(calls, 2);
    t.same(canceled, [jobId]);
    t.match(await storage.getJob(jobId), { phase: 'failed' });
  },
);

t.test('a job that completed is reported as completed when it is resumed', async (t) => {
  const { book, begin, ledger, cancellations, changes } = await setUp(t);
  const { jobId } = (await book.add(newJob)).job;
  const { claim } = await begin(jobId);
  ledger.fault = 'after';
  await t.rejects(book.finish(claim, completed(3), { durationMs: 1 }));
  await cancellations.complete(jobId);
  t.same(changes, [`${jobId} completed`]);
});
