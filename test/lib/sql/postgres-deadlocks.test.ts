import assert from 'node:assert/strict';
import t from 'tap';
import type { JobRecord } from '../../../lib/model/job.ts';
import type { DeliveryRecord } from '../../../lib/storage/delivery.ts';
import { clock, newJob } from '../../fixtures/books.ts';
import { claimDeliveries, claimJobs } from '../../fixtures/claims.ts';
import { booksOf } from '../../fixtures/postgres/books.ts';
import { openPostgres } from '../../fixtures/postgres/database.ts';

t.test('a claim passes over jobs that another transaction has locked', async (t) => {
  const storage = await openPostgres(t);
  const { book } = booksOf(storage);
  const add = async (owner: string) => (await book.add({ ...newJob, owner })).job.jobId;
  const [first, second, other] = [await add('a'), await add('a'), await add('b')];
  const claim = async () => (await claimJobs(book, { most: 3 })).map(({ job }) => job.jobId);
  let attempts = 0;
  await storage.transaction(async (tx) => {
    attempts += 1;
    await storage.queue.lock(tx, second);
    t.same(await claim(), [first, other], 'it does not wait, with the row of an owner that others change');
    await storage.queue.remove(tx, second);
    const record = (await storage.getJob(second, tx)) as JobRecord;
    await storage.updateJob(tx, { ...record, phase: 'settling', outcome: { kind: 'failed', error: 'x' } });
  });
  t.equal(attempts, 1, 'no deadlock');
  const [read, free] = [await add('c'), await add('d')];
  await storage.transaction(async (tx) => {
    await storage.getJob(read, tx);
    t.same(await claim(), [free], 'a job of which only the record is locked');
  });
  t.same(await claim(), [read]);
});

t.test('a claim passes over a delivery that another transaction has locked', async (t) => {
  const storage = await openPostgres(t);
  const { book, deliveries } = booksOf(storage);
  const { job } = await book.add({ ...newJob, webhookUrl: 'https://a.test/' });
  await book.cancel(job.jobId);
  const [delivery] = await storage.deliveries.list({ jobId: job.jobId, limit: 1 });
  const claim = async () => (await claimDeliveries(storage, deliveries)).length;
  await storage.transaction(async (tx) => {
    const locked = await storage.deliveries.get(delivery?.deliveryId ?? '', tx);
    t.equal(await claim(), 0, 'it does not wait');
    assert(locked);
    await storage.deliveries.update(tx, { ...locked, dueAtMs: clock.now() - 1 });
  });
  t.equal(await claim(), 1, 'the next one gets it');
});

t.test('deliveries of several owners are sent again once, also by two processes', async (t) => {
  const storage = await openPostgres(t);
  const { book, deliveries } = booksOf(storage);
  const failed: DeliveryRecord[] = [];
  for (const owner of ['a', 'b', 'c', 'd']) {
    const { job } = await book.add({ ...newJob, owner, webhookUrl: 'https://a.test/' });
    await book.cancel(job.jobId);
    failed.push(...(await storage.deliveries.list({ jobId: job.jobId, limit: 1 })));
  }
  const again = await Promise.all([
    deliveries.redeliverAll(failed),
    deliveries.redeliverAll(failed.toReversed()),
    claimDeliveries(storage, deliveries),
  ]);
  t.same(
    again
      .slice(0, 2)
      .flat()
      .map(({ owner }) => owner)
      .sort(),
    ['a', 'b', 'c', 'd'],
  );
});
