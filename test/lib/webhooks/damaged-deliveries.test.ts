import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { silentLogger } from '../../../lib/base/logger.ts';
import { systemRandom } from '../../../lib/base/random.ts';
import { DataFolder } from '../../../lib/index.ts';
import { recover } from '../../../lib/operations.ts';
import type { DeliveryRecord } from '../../../lib/storage/delivery.ts';
import { DeliveryBook } from '../../../lib/webhooks/delivery-book.ts';
import { DeliverySender } from '../../../lib/webhooks/delivery-sender.ts';
import { claimDeliveries } from '../../fixtures/claims.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { testFolder } from '../../fixtures/test-folder.ts';
import { until } from '../../fixtures/until.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const DELIVERED = { status: 200, reason: null, detail: null, answer: '', sent: true } as const;

let folders = 0;

/** A data folder with these deliveries, whose database `damage` changes; and what a sender on it delivers and logs. */
async function sendFrom(t: Test, records: DeliveryRecord[], damage: (path: string) => void) {
  const folder = new DataFolder(join(testFolder(t), String(folders++)));
  const { storage } = folder;
  await folder.start();
  t.teardown(() => folder.stop());
  await storage.transaction(async (tx) => {
    for (const record of records) {
      await storage.insertJob(tx, jobRecord(record.jobId, { phase: 'failed' }), '');
      await storage.deliveries.insert(tx, record, 'body');
    }
  });
  await folder.stop();
  damage(join(folder.path, 'database.sqlite'));
  await folder.start();
  const clock = new FakeClock(NOW);
  const book = new DeliveryBook({ storage, clock, random: systemRandom });
  const [sent, unreadable]: [string[], string[]] = [[], []];
  const sender = new DeliverySender({
    store: storage.deliveries,
    book,
    outbound: { post: async () => DELIVERED },
    secretOf: async () => 'secret',
    clock,
    logger: {
      ...silentLogger,
      error: (details) => void unreadable.push((details as { deliveryId: string }).deliveryId),
    },
    concurrency: 64,
    concurrencyPerHost: 8,
    concurrencyUnproven: 16,
  });
  sender.on('attempt', ({ deliveryId }) => sent.push(deliveryId));
  t.teardown(() => sender.stop());
  sender.start();
  return { folder, clock, book, sender, sent, unreadable };
}

const dueMs = Date.parse(NOW);

t.test('a damaged delivery does not block others, and a recovery saves them', async (t) => {
  const records = [
    deliveryRecord('1', { dueAtMs: dueMs - 1 }),
    deliveryRecord('2', { dueAtMs: dueMs }),
    deliveryRecord('3', { dueAtMs: dueMs, host: 'b' }),
    deliveryRecord('4', { dueAtMs: dueMs + 20 * 60_000 }),
  ];
  const { folder, clock, book, sender, sent, unreadable } = await sendFrom(t, records, (path) => {
    const database = new DatabaseSync(path);
    database.exec("UPDATE deliveries SET key_id = 'altered' WHERE delivery_id = '1'");
    database.close();
  });
  await until(() => sent.length === 2);
  t.same([sent.toSorted(), unreadable], [['2', '3'], ['1']]);
  sender.wake();
  clock.advance(5 * 60_000);
  await until(() => unreadable.length === 2);
  await sender.stop();
  await folder.stop();
  t.match((await recover(folder.path, { apply: true })).lost, [{ table: 'deliveries', key: '1' }]);
  await folder.start();
  clock.advance(20 * 60_000);
  const due = await claimDeliveries(folder.storage, book);
  t.match(due, [{ deliveryId: '4' }], 'saved deliveries are still due');
});

t.test('a delivery on an unreadable page does not block others', async (t) => {
  const mark = 'B'.repeat(9_000);
  // They separate the pages of the other deliveries.
  const between = Array.from({ length: 40 }, (_, i) =>
    deliveryRecord(`b${i}`, { secretSealed: 'k'.repeat(900), dueAtMs: null }),
  );
  const records = [
    deliveryRecord('a', { secretSealed: mark, dueAtMs: dueMs }),
    ...between,
    deliveryRecord('c', { dueAtMs: dueMs }),
    deliveryRecord('d', { host: 'b', dueAtMs: dueMs }),
  ];
  const { sent, unreadable } = await sendFrom(t, records, (path) => {
    const bytes = readFileSync(path);
    const page = bytes.indexOf(mark.slice(0, 4_092)) - 4;
    t.equal(page % 4096, 0, 'a full overflow page of the row, before its last one');
    bytes.writeUInt32BE(0x7fff_ffff, page);
    writeFileSync(path, bytes);
  });
  await until(() => sent.length === 2);
  t.same([sent.toSorted(), unreadable], [['c', 'd'], ['a']]);
});
