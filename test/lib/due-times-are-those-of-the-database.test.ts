import t, { type Test } from 'tap';
import { systemRandom } from '../../lib/base/random.ts';
import { Deliveries } from '../../lib/index.ts';
import type { DeliveryRecord } from '../../lib/storage/delivery.ts';
import { DeliveryBook } from '../../lib/webhooks/delivery-book.ts';
import { claimDeliveries } from '../fixtures/claims.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { jobRecord } from '../fixtures/job-record.ts';
import { openPostgres } from '../fixtures/postgres/database.ts';

const AWAY_MS = 20 * 60_000;
/** In which a test reaches its assertions. */
const SOON_MS = 20_000;

/** The delivery book of a machine whose clock differs from that of the database. */
async function openBook(t: Test, { aheadMs }: { aheadMs: number }) {
  const storage = await openPostgres(t);
  const clock = new FakeClock(new Date(Date.now() + aheadMs).toISOString());
  const book = new DeliveryBook({ storage, clock, random: systemRandom });
  const deliveries = new Deliveries({ storage, clock });
  await storage.transaction(async (tx) => {
    const job = jobRecord('j', { phase: 'failed', webhookUrl: 'https://a.test/hook' });
    await storage.insertJob(tx, job, '');
    await book.add(tx, job);
  });
  const claim = () => claimDeliveries(storage, book);
  const only = async () => (await storage.deliveries.list({}))[0] as DeliveryRecord;
  return { book, deliveries, claim, only };
}

for (const aheadMs of [AWAY_MS, -AWAY_MS]) {
  const title = `a machine whose clock is 20 minutes ${aheadMs > 0 ? 'ahead' : 'behind'} delays no webhook`;
  t.test(title, async (t) => {
    const { book, deliveries, claim, only } = await openBook(t, { aheadMs });
    const isIn = (time: number | null, delayMs: number) =>
      t.ok(time !== null && Math.abs(time - delayMs - Date.now()) < SOON_MS, `${time} in ${delayMs} ms`);
    isIn((await only()).dueAtMs, 0);
    isIn((await only()).createdAtMs, 0);
    t.equal((await book.duePeriod()) !== undefined, true);
    t.equal(await deliveries.countDue(), 1);
    const [begun] = await claim();
    t.ok(begun, 'the first attempt begins at once');
    // Of an attempt that never ends.
    isIn((await only()).dueAtMs, 40_000);
    t.equal((await book.duePeriod()) !== undefined, false);
    await book.conclude(begun as DeliveryRecord, {
      status: 500,
      reason: null,
      detail: null,
      answer: '',
      sent: true,
    });
    const { dueAtMs, attempts } = await only();
    isIn(dueAtMs, 30_000);
    isIn(attempts[0]?.endedAtMs ?? null, 0);
    isIn((await book.redeliver(await only())).dueAtMs, 0);
    t.equal((await claim()).length, 1);
  });
}
