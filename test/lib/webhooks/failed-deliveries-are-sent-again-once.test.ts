import t, { type Test } from 'tap';
import { DataFolder, Deliveries } from '../../../lib/index.ts';
import { firstIdAt } from '../../../lib/model/ids.ts';
import type { DeliveryRecord } from '../../../lib/storage/delivery.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const NOW = Date.parse('2026-11-21T10:00:00.000Z');

async function openDeliveries(t: Test) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  /** A delivery of a job of its own, or of a new job with this id, that many minutes ago; failed unless changed. */
  const add = (minutesAgo: number, change: Partial<DeliveryRecord> = {}) =>
    storage.transaction(async (tx) => {
      const deliveryId = `${firstIdAt(NOW - minutesAgo * 60_000)}${'0'.repeat(36)}`;
      const { jobId = `job of ${deliveryId}` } = change;
      await storage.insertJob(tx, jobRecord(jobId, { phase: 'failed' }), '');
      const failed = { dueAtMs: null, ...change, jobId };
      await storage.deliveries.insert(tx, deliveryRecord(deliveryId, failed), 'body');
      return { deliveryId, jobId };
    });
  const clock = new FakeClock(new Date(NOW).toISOString());
  return { storage, add, clock, deliveries: new Deliveries({ storage, clock }) };
}

t.test('failed deliveries of a period are sent again, the others are not', async (t) => {
  const { add, deliveries } = await openDeliveries(t);
  await add(90);
  const [one, two] = [await add(30), await add(20)];
  await add(15, { dueAtMs: NOW });
  await add(10, { deliveredAtMs: NOW });
  await add(5, { owner: 'b' });
  const sinceMs = NOW - 60 * 60_000;
  t.same(await deliveries.sendFailedAgain({ owner: 'a', sinceMs }), { sent: 2, isComplete: true });
  const again = (await deliveries.list({ owner: 'a', state: 'pending' })).filter(({ repeats }) => repeats);
  t.same(again.map(({ repeats }) => repeats).sort(), [one.deliveryId, two.deliveryId]);
});

t.test('an aborted call sends nothing', async (t) => {
  const { add, deliveries } = await openDeliveries(t);
  await add(30);
  const call = deliveries.sendFailedAgain({ sinceMs: 0, signal: AbortSignal.abort() });
  await t.rejects(call, { name: 'AbortError' });
  t.same(await deliveries.list({ state: 'pending' }), []);
});

t.test('the same period sends nothing twice, also at the same time', async (t) => {
  const { storage, add, deliveries, clock } = await openDeliveries(t);
  for (let minutes = 1; minutes <= 5; minutes += 1) await add(minutes);
  const period = { owner: 'a', sinceMs: 0, untilMs: NOW };
  const results = await Promise.all([deliveries.sendFailedAgain(period), deliveries.sendFailedAgain(period)]);
  t.same(results.map(({ sent }) => sent).sort(), [0, 5]);
  for (const { deliveryId } of await deliveries.list({ state: 'pending' })) {
    const record = await storage.deliveries.get(deliveryId);
    if (record)
      await storage.transaction((tx) => storage.deliveries.update(tx, { ...record, dueAtMs: null }));
  }
  clock.advance(1000);
  t.same(await deliveries.sendFailedAgain(period), { sent: 0, isComplete: true }, 'the period is over');
  t.same(await deliveries.sendFailedAgain({ owner: 'a', sinceMs: 0 }), { sent: 5, isComplete: true });
  const newest = (await deliveries.list({ owner: 'a', limit: 1 }))[0];
  t.match(newest?.repeats, /0{36}$/, 'a delivery names the first one of its job');
});

t.test('a call sends a bounded number, newest first, and another sends the rest', async (t) => {
  const { add, deliveries } = await openDeliveries(t);
  for (let minutes = 1; minutes <= 250; minutes += 1) await add(minutes);
  const period = { owner: 'a', sinceMs: 0, untilMs: NOW };
  t.same(await deliveries.sendFailedAgain({ ...period, limit: 130 }), { sent: 130, isComplete: false });
  t.same(await deliveries.sendFailedAgain({ ...period, limit: 130 }), { sent: 120, isComplete: true });
  t.same(await deliveries.sendFailedAgain(period), { sent: 0, isComplete: true });
});

t.test('deliveries that are left out do not count', async (t) => {
  const { storage, add, deliveries } = await openDeliveries(t);
  for (const minutes of [2, 3, 4]) await add(minutes);
  const { jobId, deliveryId } = await add(1);
  await storage.transaction((tx) =>
    storage.deliveries.insert(
      tx,
      deliveryRecord(firstIdAt(NOW), { jobId, repeats: deliveryId, dueAtMs: NOW }),
      'body',
    ),
  );
  const period = { owner: 'a', sinceMs: 0, untilMs: NOW };
  t.same(await deliveries.sendFailedAgain({ ...period, limit: 2 }), { sent: 2, isComplete: false });
  t.same(await deliveries.sendFailedAgain({ ...period, limit: 2 }), { sent: 1, isComplete: true });
});

t.test('deliveries of forgotten jobs are left out', async (t) => {
  const { storage, add, deliveries } = await openDeliveries(t);
  const { deliveryId } = await add(1);
  const record = await storage.deliveries.get(deliveryId);
  if (record) await storage.transaction((tx) => storage.deliveries.forget(tx, record));
  t.same(await deliveries.sendFailedAgain({ sinceMs: 0 }), { sent: 0, isComplete: true });
});

t.test('jobs of several owners are locked in the order of their ids', async (t) => {
  const { storage, add, deliveries } = await openDeliveries(t);
  const ids = [1, 3, 2].flatMap((number) => [`ada ${number}`, `bob ${number}`]);
  for (const [minutes, jobId] of ids.entries()) await add(minutes + 1, { owner: jobId.slice(0, 3), jobId });
  const store = storage.deliveries;
  const list = store.list.bind(store);
  const jobs: string[] = [];
  store.list = (query, tx) => {
    if (tx) jobs.push(query?.jobId ?? '');
    return list(query, tx);
  };
  t.match(await deliveries.sendFailedAgain({ sinceMs: 0, untilMs: NOW }), { sent: 6 });
  t.same(jobs, ids.toSorted());
});
