import { join } from 'node:path';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { DataFolder, type Ledger, StoredLedger, UnmeteredLedger } from '../../../lib/index.ts';
import type { ClaimedJob } from '../../../lib/jobs/run/job-claims.ts';
import { Pricing } from '../../../lib/ledger/pricing.ts';
import type { JobOutcome } from '../../../lib/model/job.ts';
import { claimJobs } from '../../fixtures/claims.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { JobBook } from '../../fixtures/job-book.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const clock = new FakeClock('2026-11-21T10:00:00Z');
const request = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
const newJob = { owner: 'a', request, metadataJson: null, webhookUrl: null, keyId: null };
const completed: JobOutcome = { kind: 'completed', artifacts: [], costCredits: 3 };

async function openFolder(t: Test) {
  const folder = new DataFolder(join(testFolder(t), 'data'));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const books = new StoredLedger({ store: folder.ledgerStore, clock });
  const bookWith = (ledger: Ledger) =>
    new JobBook({ storage, ledger, pricing: new Pricing(), clock, random: systemRandom });
  return { books, metered: bookWith(books), unmetered: bookWith(new UnmeteredLedger({ books })) };
}

t.test('open reserves are returned in full after a change to unmetered mode', async (t) => {
  const { books, metered, unmetered } = await openFolder(t);
  const [done, failed, canceled] = [
    (await metered.add(newJob)).job,
    (await metered.add(newJob)).job,
    (await metered.add(newJob)).job,
  ];
  t.equal((await books.balance('a')).total, 985);
  const [first, second] = (await claimJobs(unmetered, { most: 2 })) as [ClaimedJob, ClaimedJob];
  t.same([first.job.jobId, second.job.jobId], [done.jobId, failed.jobId]);
  t.match(await unmetered.finish(first.claim, completed, { durationMs: 3000 }), {
    job: { phase: 'completed', creditsCost: 0 },
  });
  await unmetered.finish(second.claim, { kind: 'failed', error: 'no' }, { durationMs: 1 });
  await unmetered.cancel(canceled.jobId);
  t.equal((await books.balance('a')).total, 1000);
  t.same((await books.audit()).problems, []);
});

t.test('jobs enqueued in unmetered mode cost nothing after a change to metered mode', async (t) => {
  const { books, metered, unmetered } = await openFolder(t);
  await unmetered.add(newJob);
  const [{ claim }] = (await claimJobs(metered)) as [ClaimedJob];
  t.match(await metered.finish(claim, completed, { durationMs: 3000 }), {
    job: { phase: 'completed', creditsCost: 0 },
  });
  const failed = (await unmetered.add(newJob)).job;
  t.match(await metered.cancel(failed.jobId), { job: { phase: 'failed' } });
  t.equal((await books.balance('a')).total, 1000);
  t.same((await books.audit()).problems, []);
});
