import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../lib/base/random.ts';
import { DataFolder, StoredLedger } from '../../../lib/index.ts';
import { Pricing } from '../../../lib/ledger/pricing.ts';
import type { JobOutcome } from '../../../lib/model/job.ts';
import type { Claim } from '../../../lib/storage/queue/queue.ts';
import { claimJob, claimJobs } from '../../fixtures/claims.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { JobBook } from '../../fixtures/job-book.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const clock = new FakeClock('2026-11-21T10:00:00Z');
const request = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
const newJob = { owner: 'a', request, metadataJson: null, webhookUrl: null, keyId: null };
const completed: JobOutcome = { kind: 'completed', artifacts: [], costCredits: 3 };

/** A ledger with a job of every kind. */
async function openBooks(t: Test) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const store = folder.ledgerStore;
  const ledger = new StoredLedger({ store, clock });
  const book = new JobBook({
    storage: folder.storage,
    ledger,
    pricing: new Pricing(),
    clock,
    random: systemRandom,
  });
  await ledger.grantPaid('a', 50);
  const open = (await book.add(newJob)).job;
  const done = (await book.add(newJob)).job;
  const failed = (await book.add(newJob)).job;
  const claimed = await claimJob(folder.storage, done.jobId);
  await book.finish(claimed?.claim as Claim, completed, { durationMs: 2500 });
  await book.cancel(failed.jobId);
  return { folder, store, ledger, open, done, failed };
}

t.test('a consistent ledger has no problems', async (t) => {
  const { store } = await openBooks(t);
  t.same(await store.audit(), { accounts: 1, entries: 7, jobs: 3, problems: [] });
});

t.test('an audit finds no problems while jobs are created and end', async (t) => {
  const { folder, store, ledger } = await openBooks(t);
  const book = new JobBook({
    storage: folder.storage,
    ledger,
    pricing: new Pricing(),
    clock,
    random: systemRandom,
  });
  await ledger.grantPaid('a', 1_000_000);
  let busy = true;
  const work = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (busy) {
        await book.add(newJob);
        for (const { claim } of await claimJobs(book, { most: 1 }))
          await book.finish(claim, completed, { durationMs: 2500 });
      }
    }),
  );
  for (let i = 0; i < 20; i++) t.same((await store.audit()).problems, []);
  busy = false;
  await work;
});

/** Drops the constraints and runs statements, as another program could. */
function forge(path: string, ...statements: string[]): void {
  const database = new DatabaseSync(join(path, 'database.sqlite'));
  database.exec('PRAGMA foreign_keys = OFF');
  const guards = database.prepare(
    "SELECT type, name FROM sqlite_schema WHERE type = 'trigger' OR (type = 'index' AND name LIKE 'one_%')",
  );
  for (const { type, name } of guards.all()) database.exec(`DROP ${type} ${name}`);
  for (const statement of statements) database.exec(statement);
  database.close();
}

type Books = Awaited<ReturnType<typeof openBooks>>;
const again = (kind: string) =>
  `INSERT INTO ledger_entries SELECT owner, 'z' || entry_id, kind, amount_credits, charged_credits, job_id, parts, note,
     at_ms, checksum, grant_id FROM ledger_entries WHERE kind = '${kind}'`;
const frauds: [title: string, statement: (books: Books) => string, problem: RegExp][] = [
  [
    'a credit from nowhere',
    () => "UPDATE grants SET remaining_credits = remaining_credits + 1 WHERE source = 'paid'",
    /^a: the balance is 1043, but the entries add up to 1042$/,
  ],
  [
    'a grant that was entered twice',
    () => again('grant'),
    /^a: the balance is 1042, but the entries add up to 2092$/,
  ],
  [
    'a reserve without its entry',
    ({ open }) => `DELETE FROM ledger_entries WHERE kind = 'reserve' AND job_id = '${open.jobId}'`,
    /was never reserved/,
  ],
  [
    'a refund that is too large',
    ({ done }) =>
      `UPDATE ledger_entries SET amount_credits = 3 WHERE kind = 'settle' AND job_id = '${done.jobId}'`,
    /reserved 5 and was charged 3, but 3 were returned/,
  ],
  [
    'a void of which credits are missing',
    ({ failed }) =>
      `UPDATE ledger_entries SET amount_credits = 4 WHERE kind = 'void' AND job_id = '${failed.jobId}'`,
    /reserved 5 and was charged 0, but 4 were returned/,
  ],
  [
    'a charge that differs from the cost of the job',
    ({ done }) =>
      `UPDATE ledger_entries SET charged_credits = 4, amount_credits = 1 WHERE kind = 'settle' AND job_id = '${done.jobId}'`,
    /cost 3, but the ledger charged 4/,
  ],
  [
    'a settlement without a reserve',
    ({ done }) => `DELETE FROM ledger_entries WHERE kind = 'reserve' AND job_id = '${done.jobId}'`,
    /has an entry of the kind settle, but no reserve/,
  ],
  [
    'a job that ended while its reserve stayed open',
    ({ open }) =>
      `UPDATE jobs SET phase = 'failed', has_error = 1, completed_at_ms = 0 WHERE job_id = '${open.jobId}'`,
    /is failed, but open in the ledger/,
  ],
  [
    'a reserve for a job that never was',
    ({ open }) => `DELETE FROM jobs WHERE job_id = '${open.jobId}'`,
    /is open in the ledger, but there is no such job/,
  ],
  [
    'a job without a reserve',
    ({ open }) => `UPDATE jobs SET job_id = 'free-rider' WHERE job_id = '${open.jobId}'`,
    /job free-rider was never reserved/,
  ],
];
for (const [title, statement, problem] of frauds) {
  t.test(`the audit finds ${title}`, async (t) => {
    const books = await openBooks(t);
    forge(books.folder.path, statement(books));
    const { problems } = await books.store.audit();
    t.ok(
      problems.some((text) => problem.test(text)),
      problems.join('\n'),
    );
  });
}
