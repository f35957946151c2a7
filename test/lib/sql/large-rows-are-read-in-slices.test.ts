import t from 'tap';
import { DataFolder } from '../../../lib/index.ts';
import { deliveryRecord } from '../../fixtures/delivery-record.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const ROWS = 100;
const LARGE = 'x'.repeat(200_000);
/** Of the event loop, while 20 MB are read. */
const LEAST_TURNS = 4;

/** How often other work could run before a promise was resolved. */
async function turnsUntil(awaited: Promise<unknown>): Promise<number> {
  let isOver = false;
  let turns = 0;
  const over = awaited.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  await over;
  return turns;
}

t.test('lists of large rows let other work run', async (t) => {
  const { storage } = new DataFolder(testFolder(t));
  await storage.start();
  t.teardown(() => storage.stop());
  await storage.transaction(async (tx) => {
    for (let row = 100; row < 100 + ROWS; row += 1) {
      await storage.insertJob(tx, jobRecord(`${row}`, { metadataJson: `"${LARGE}"` }), 'x');
      await storage.deliveries.insert(tx, deliveryRecord(`${row}`, { url: `https://a.test/${LARGE}` }), 'x');
    }
  });
  const ofJobs = await turnsUntil(
    storage.listJobs({ metadata: false, limit: ROWS }).then((jobs) => t.equal(jobs.length, ROWS)),
  );
  t.ok(ofJobs >= LEAST_TURNS, `${ofJobs} turns`);
  const ofDeliveries = await turnsUntil(
    storage.deliveries.list({ limit: ROWS }).then((deliveries) => t.equal(deliveries.length, ROWS)),
  );
  t.ok(ofDeliveries >= LEAST_TURNS, `${ofDeliveries} turns`);
});
