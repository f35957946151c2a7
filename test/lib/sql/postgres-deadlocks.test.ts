import assert from 'node:assert/strict';
import t from 'tap';
import type { JobRecord } from '../../../lib/jobs/job.ts';
import { systemRandom } from '../../../lib/random.ts';
import type { SqlTransaction } from '../../../lib/storage/sql.ts';
import { EVERY_LANE } from '../../../lib/testing/delivery-record.ts';
import type { DeliveryRecord } from '../../../lib/webhooks/delivery.ts';
import { DeliveryBook } from '../../../lib/webhooks/delivery-book.ts';
import { clock, newJob } from '../../fixtures/books.ts';
import { claimJobs } from '../../fixtures/claims.ts';
import { booksOf } from '../../fixtures/postgres/books.ts';
import { lockAwaited, openPostgres } from '../../fixtures/postgres/database.ts';

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

t.test('a round that corrects times of a wrong clock locks owners before their rows', async (t) => {
  const storage = await openPostgres(t);
  const { book } = booksOf(storage);
  const { job } = await book.add({ ...newJob, webhookUrl: 'https://a.test/' });
  const now = new Date(clock.now()).toISOString();
  clock.set('2040-01-01T00:00:00Z');
  await book.cancel(job.jobId);
  clock.set(now);
  const outcomes = new DeliveryBook({ storage, clock, random: systemRandom });
  let rounds = 0;
  // Called by each attempt at the transaction.
  const lanes = () => {
    rounds += 1;
    return EVERY_LANE;
  };
  const claim = async () => (await outcomes.claim({ most: 5, lanes, onUnreadable: assert.fail })).length;
  let claimed = Promise.resolve(0);
  let attempts = 0;
  await storage.transaction(async (tx) => {
    attempts += 1;
    const inside = tx as SqlTransaction;
    await inside.lock('due a');
    claimed = claim();
    await lockAwaited('due a', storage);
    await inside.run('UPDATE due_deliveries SET due_at_ms = due_at_ms WHERE owner = ?', 'a');
  });
  t.equal(await claimed, 1);
  t.same([attempts, rounds], [1, 1], 'no deadlock');
});

t.test('a round passes over a delivery that another transaction has locked', async (t) => {
  const storage = await openPostgres(t);
  const { book, outcomes } = booksOf(storage);
  const { job } = await book.add({ ...newJob, webhookUrl: 'https://a.test/' });
  await book.cancel(job.jobId);
  const [delivery] = await storage.deliveries.list({ jobId: job.jobId, limit: 1 });
  const claim = async () =>
    (await outcomes.claim({ most: 5, lanes: () => EVERY_LANE, onUnreadable: assert.fail })).length;
  await storage.transaction(async (tx) => {
    const locked = await storage.deliveries.get(delivery?.deliveryId ?? '', tx);
    t.equal(await claim(), 0, 'it does not wait, with the lock of the owner');
    assert(locked);
    await storage.deliveries.update(tx, { ...locked, dueAtMs: clock.now() - 1 });
  });
  t.equal(await claim(), 1, 'the next round gives it');
});

t.test('deliveries of several owners are sent again without waiting for the sender', async (t) => {
  const storage = await openPostgres(t);
  const { book, outcomes } = booksOf(storage);
  const failed: DeliveryRecord[] = [];
  for (const owner of ['a', 'b']) {
    const { job } = await book.add({ ...newJob, owner, webhookUrl: 'https://a.test/' });
    await book.cancel(job.jobId);
    failed.push(...(await storage.deliveries.list({ jobId: job.jobId, limit: 1 })));
  }
  const { deliveries } = storage;
  const inserts = t.capture(deliveries, 'insert', deliveries.insert.bind(deliveries));
  let attempts = 0;
  let sentAgain: Promise<DeliveryRecord[]> | undefined;
  // As a round of the sender that serves `b` first.
  await storage.transaction(async (tx) => {
    attempts += 1;
    const inside = tx as SqlTransaction;
    await inside.lock('due b');
    sentAgain = outcomes.redeliverAll(failed);
    await lockAwaited('due b', storage);
    await inside.lock('due a');
  });
  t.match(await sentAgain, [{ owner: 'a' }, { owner: 'b' }]);
  t.same([attempts, inserts().length], [1, 2], 'no deadlock');
});
