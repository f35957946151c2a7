import t, { type Test } from 'tap';
import {
  audit,
  DataFolder,
  type JobOutcome,
  type LedgerEntry,
  Pricing,
  StoredLedger,
} from '../../../lib/index.ts';
import { JobBook } from '../../../lib/jobs/job-book.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const clock = new FakeClock('2026-11-21T10:00:00Z');
const request = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
const newJob = { owner: 'a', request, metadataJson: null, webhookUrl: null, keyId: null };
const completed: JobOutcome = { kind: 'completed', artifacts: [], costCredits: 3 };

/** Books with a job of every kind. */
async function openBooks(t: Test) {
  const folder = new DataFolder(t.testdir());
  await folder.start();
  t.teardown(() => folder.stop());
  const store = folder.ledgerStore;
  const ledger = new StoredLedger({ store, clock });
  const book = new JobBook({ storage: folder.storage, ledger, pricing: new Pricing(), clock });
  await ledger.grantPaid('a', 50);
  const open = (await book.open(newJob)).job;
  const done = (await book.open(newJob)).job;
  const failed = (await book.open(newJob)).job;
  await book.finish(done.jobId, completed, { durationMs: 2500 });
  await book.finish(failed.jobId, { kind: 'failed', error: 'no' }, { durationMs: 0 });
  return { folder, store, ledger, open, done, failed };
}

t.test('books that are in order have no problems', async (t) => {
  const { store } = await openBooks(t);
  t.same(await audit(store), { accounts: 1, entries: 7, jobs: 3, problems: [] });
});

t.test('an audit while jobs come and end finds nothing to complain of', async (t) => {
  const { folder, store, ledger } = await openBooks(t);
  const book = new JobBook({ storage: folder.storage, ledger, pricing: new Pricing(), clock });
  let busy = true;
  const work = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (busy) {
        const { jobId } = (await book.open(newJob)).job;
        await book.finish(jobId, completed, { durationMs: 2500 });
      }
    }),
  );
  for (let i = 0; i < 20; i++) t.same((await audit(store)).problems, []);
  busy = false;
  await work;
});

const entry = (change: Partial<LedgerEntry>): LedgerEntry => ({
  entryId: 'z',
  owner: 'a',
  kind: 'grant',
  amountCredits: 0,
  chargedCredits: 0,
  jobId: null,
  parts: [],
  note: null,
  atMs: 0,
  ...change,
});

type Books = Awaited<ReturnType<typeof openBooks>>;
const frauds: [title: string, commit: (books: Books) => Promise<void>, problem: RegExp][] = [
  [
    'a credit from nowhere',
    async ({ store }) => {
      const account = await store.getAccount('a');
      if (!account) throw new Error('no account');
      const grants = account.grants.map((grant) => ({
        ...grant,
        remainingCredits: grant.remainingCredits + 1,
      }));
      await store.storage.transaction((tx) => store.putAccount(tx, { ...account, grants }));
    },
    /^a: the balance is \d+, but 1050 granted − 0 expired − 3 charged − 5 reserved is 1042$/,
  ],
  [
    'a second free grant of a month',
    async ({ store }) => {
      const parts = [{ grantId: 'g', source: 'free' as const, period: '2026-11', amountCredits: 0 }];
      await store.storage.transaction((tx) => store.appendEntry(tx, entry({ parts })));
    },
    /2026-11 were granted more than once/,
  ],
  [
    'a reserve that was settled without an entry',
    async ({ store, open }) => {
      const reserve = await store.getReserve(open.jobId);
      if (!reserve) throw new Error('no reserve');
      await store.storage.transaction((tx) => store.putReserve(tx, { ...reserve, state: 'settled' }));
    },
    /is settled with the entries \[reserve\]/,
  ],
  [
    'a job charged twice',
    async ({ store, done }) => {
      const again = entry({ kind: 'settle', jobId: done.jobId, chargedCredits: 3, amountCredits: -3 });
      await store.storage.transaction((tx) => store.appendEntry(tx, again));
    },
    /with the entries \[reserve, settle, settle\]/,
  ],
  [
    'a job that ended while its reserve stayed open',
    async ({ folder, open }) => {
      const { storage } = folder;
      await storage.transaction((tx) => storage.updateJob(tx, { ...open, phase: 'failed' }));
    },
    /is failed, but open in the ledger/,
  ],
  [
    'a reserve for a job that never was',
    async ({ ledger }) => {
      await ledger.reserve({ jobId: 'ghost', owner: 'a', amountCredits: 5 });
    },
    /job ghost is open in the ledger, but there is no such job/,
  ],
  [
    'a job that nobody reserved for',
    async ({ folder, open }) => {
      const { storage } = folder;
      await storage.transaction((tx) => storage.insertJob(tx, { ...open, jobId: 'free-rider' }, 'x'));
    },
    /job free-rider was never reserved/,
  ],
];
for (const [title, commit, problem] of frauds) {
  t.test(`${title} is found`, async (t) => {
    const books = await openBooks(t);
    await commit(books);
    const { problems } = await audit(books.store);
    t.ok(
      problems.some((text) => problem.test(text)),
      problems.join('\n'),
    );
  });
}
