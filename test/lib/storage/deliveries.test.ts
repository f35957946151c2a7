import t from 'tap';
import { DataFolder } from '../../../lib/index.ts';
import { deliveryRecord } from '../../../lib/testing/delivery-record.ts';

t.test('with 100,000 deliveries due, asking for some takes no longer', async (t) => {
  const folder = new DataFolder(t.testdir());
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  for (let from = 0; from < 100_000; from += 5_000) {
    await storage.transaction(async (tx) => {
      for (let i = from; i < from + 5_000; i += 1) {
        const record = deliveryRecord(String(i), { host: `host-${i % 1_000}`, dueAtMs: i });
        await storage.deliveries.insert(tx, record, 'body');
      }
    });
  }
  const query = { dueByMs: 1_000_000, limit: 256, limitPerHost: 8, exceptHosts: new Set<string>() };
  await storage.deliveries.due(query);
  const startedAt = performance.now();
  for (let i = 0; i < 1_000; i += 1) await storage.deliveries.due(query);
  const tookMs = performance.now() - startedAt;
  t.ok(tookMs < 10_000, `a thousand times in ${Math.round(tookMs)} ms`);
});

t.test('hosts take turns', async (t) => {
  const folder = new DataFolder(t.testdir());
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  await storage.transaction(async (tx) => {
    for (const id of ['a1', 'a2', 'a3', 'b1', 'c1']) {
      await storage.deliveries.insert(tx, deliveryRecord(id, { host: id.slice(0, 1) }), 'body');
    }
  });
  const query = { dueByMs: 0, limit: 1, limitPerHost: 1, exceptHosts: new Set<string>() };
  const turns: string[] = [];
  for (let i = 0; i < 3; i += 1) {
    for (const { deliveryId } of await storage.deliveries.due(query)) turns.push(deliveryId);
  }
  t.same(turns.sort(), ['a1', 'b1', 'c1']);
});
