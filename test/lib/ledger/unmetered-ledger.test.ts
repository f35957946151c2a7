import t, { type Test } from 'tap';
import { DataFolder, StoredLedger, UnmeteredLedger } from '../../../lib/index.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { jobRecord } from '../../fixtures/job-record.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const job = { jobId: 'j1', owner: 'a' };

async function openBooks(t: Test) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const books = new StoredLedger({ store: folder.ledgerStore, clock: new FakeClock('2026-11-21T10:00:00Z') });
  return { books, storage: folder.storage };
}

t.test(
  'renders are free: all are reserved, nothing is charged, and the allowance stays unspent',
  async (t) => {
    const { storage } = await openBooks(t);
    const ledger = new UnmeteredLedger({ freeCreditsPerMonth: 70 });
    t.equal(ledger.chargesNothing, true);
    t.equal(ledger.joins(storage), true, 'any storage');
    t.equal(await ledger.reserve(), 'reserved');
    t.same(await ledger.settle(job), { kind: 'settled', chargedCredits: 0 });
    await ledger.void(job);
    t.same(await ledger.balance(), { paid: 0, free: 70, total: 70 });
    t.equal(await ledger.available(), Number.POSITIVE_INFINITY);
    t.equal((await new UnmeteredLedger().balance()).free, 1000);
  },
);

t.test('with the books of a time when renders cost credits, open reserves are returned', async (t) => {
  const { books, storage } = await openBooks(t);
  const other = await openBooks(t);
  const ledger = new UnmeteredLedger({ books });
  t.equal(ledger.joins(storage), true);
  t.equal(ledger.joins(other.storage), false);
  await books.reserve({ ...job, amountCredits: 40 });
  await books.reserve({ jobId: 'j2', owner: 'a', amountCredits: 40 });
  t.same(await ledger.settle(job), { kind: 'settled', chargedCredits: 0 });
  await ledger.void({ jobId: 'j2', owner: 'a' });
  t.equal((await books.balance('a')).total, 1000);
});

t.test('an audit checks reserves that are still open, and the queue', async (t) => {
  const { books, storage } = await openBooks(t);
  const ledger = new UnmeteredLedger({ books });
  await books.reserve({ ...job, amountCredits: 40 });
  await storage.transaction((tx) =>
    storage.insertJob(tx, jobRecord('j2', { owner: 'b', reserveCredits: 0 }), 'x'),
  );
  t.match((await ledger.audit?.())?.problems, [
    'a: job j1 is open in the ledger, but there is no such job',
    'b: job j2 is queued, but not in the queue',
  ]);
  t.equal(new UnmeteredLedger().audit, undefined, 'nothing to check without books');
});

t.test('the books get no entries of jobs without a reserve', async (t) => {
  const { books } = await openBooks(t);
  const ledger = new UnmeteredLedger({ books });
  await ledger.settle(job);
  await ledger.void(job);
  t.equal(await books.hasReserve('j1'), false);
  t.same(await books.statement('a'), []);
});
