import t, { type Test } from 'tap';
import { DataFolder, type JobOutcome, type Ledger, Pricing, StoredLedger } from '../../../lib/index.ts';
import { IDEMPOTENCY_MS, JobBook } from '../../../lib/jobs/job-book.ts';
import { DistantLedger } from '../../fixtures/distant-ledger.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const clock = new FakeClock('2026-11-21T10:00:00Z');
const request = { code: 'x', className: 'A', quality: 'low', aspectRatio: '16:9' } as const;
const newJob = { owner: 'a', request, metadataJson: null, webhookUrl: null, keyId: null };
const completed = (costCredits: number): JobOutcome => ({ kind: 'completed', artifacts: [], costCredits });
const failed: JobOutcome = { kind: 'failed', error: 'no' };

async function openBook<L extends Ledger>(t: Test, makeLedger: (folder: DataFolder) => L) {
  const folder = new DataFolder(t.testdir());
  await folder.start();
  t.teardown(() => folder.stop());
  const ledger = makeLedger(folder);
  const book = new JobBook({ storage: folder.storage, ledger, pricing: new Pricing(), clock });
  return { book, ledger, storage: folder.storage };
}

const openStored = (t: Test, freeCreditsPerMonth = 100) =>
  openBook(t, (folder) => new StoredLedger({ store: folder.ledgerStore, freeCreditsPerMonth, clock }));
const openDistant = (t: Test, balance = 100) => openBook(t, () => new DistantLedger(balance));

for (const [name, open] of [
  ['a ledger in the same transactions', openStored],
  ['a ledger that lives elsewhere', openDistant],
] as const) {
  t.test(name, async (t) => {
    t.test('holds the reserve, then charges what the render cost', async (t) => {
      const { book, ledger } = await open(t);
      const { jobId } = (await book.open(newJob)).job;
      t.equal(await ledger.available('a'), 95);
      t.match(await book.begin(jobId), { phase: 'running', attempts: 1 });
      const job = await book.finish(jobId, completed(3), { durationMs: 2500 });
      t.match(job, { phase: 'completed', creditsCost: 3, durationMs: 2500, outcome: null });
      t.equal(await ledger.available('a'), 97);
    });

    t.test('gives the whole reserve back for a failed render', async (t) => {
      const { book, ledger } = await open(t);
      const { jobId } = (await book.open(newJob)).job;
      t.match(await book.finish(jobId, failed, { durationMs: 0 }), {
        phase: 'failed',
        error: 'no',
        creditsCost: 0,
      });
      t.equal(await ledger.available('a'), 100);
    });

    t.test('fails a render whose cost the balance does not cover, and gives the reserve back', async (t) => {
      const { book, ledger } = await open(t);
      const { jobId } = (await book.open(newJob)).job;
      const job = await book.finish(jobId, completed(101), { durationMs: 101_000 });
      t.match(job, { phase: 'failed', creditsCost: 0, error: /credits ran out/, artifacts: [] });
      t.equal(await ledger.available('a'), 100);
    });

    t.test('makes no job when the reserve is not covered', async (t) => {
      const { book, storage } = await open(t, 4);
      await t.rejects(book.open(newJob), { code: 'insufficient_credits' });
      t.same(await storage.listJobs({}), []);
      t.same(await storage.unfinishedJobs(), []);
    });

    t.test('answers a repeated request with its job, also when no credits are left', async (t) => {
      const { book, ledger, storage } = await open(t, 5);
      const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
      const first = await book.open(request);
      t.equal(first.repeated, false);
      t.equal(await ledger.available('a'), 0);
      const again = await book.open(request, { room: () => void t.fail('it doesn’t enter again') });
      t.match(again, { repeated: true, job: { jobId: first.job.jobId } });
      t.equal((await storage.listJobs({})).length, 1);
      const other = { ...request, idempotency: { key: 'k', fingerprint: 'g' } };
      await t.rejects(book.open(other), { code: 'conflict' });
    });

    t.test('lets a request’s key be used again after a day, or when its first use was refused', async (t) => {
      const { book, ledger, storage } = await open(t, 10);
      const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
      const { jobId } = (await book.open(request)).job;
      clock.advance(IDEMPOTENCY_MS + 1);
      t.match(await book.open(request), { repeated: true }, 'whatever the clock says, until it is removed');
      await book.forgetOldRequests();
      const next = await book.open(request);
      t.not(next.job.jobId, jobId);
      t.equal(await ledger.available('a'), 0);
      const poor = { ...newJob, idempotency: { key: 'k2', fingerprint: 'f' } };
      await t.rejects(book.open(poor), { code: 'insufficient_credits' });
      await book.finish(jobId, failed, { durationMs: 0 });
      t.equal((await book.open(poor)).repeated, false);
      clock.advance(IDEMPOTENCY_MS + 1);
      await book.forgetOldRequests();
      t.equal(await storage.transaction((tx) => storage.getIdempotentRequest('a', 'k', tx)), undefined);
    });

    t.test('asks whether a job may enter before it takes credits', async (t) => {
      const { book, ledger } = await open(t);
      const full = () => {
        throw new Error('full');
      };
      await t.rejects(book.open(newJob, { room: full }), { message: 'full' });
      t.equal(await ledger.available('a'), 100);
    });

    t.test('asks for the owner before it answers a repeated request', async (t) => {
      const { book, ledger, storage } = await open(t);
      const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
      const refuse = () => Promise.reject(new Error('refused'));
      await t.rejects(book.open(request, { owner: refuse }), { message: 'refused' });
      t.equal(await ledger.available('a'), 100);
      t.same(await storage.listJobs({}), []);
      await book.open(request);
      await t.rejects(book.open(request, { owner: refuse }), { message: 'refused' });
    });

    t.test('ends a job once: the first outcome counts', async (t) => {
      const { book, ledger } = await open(t);
      const { jobId } = (await book.open(newJob)).job;
      const ends = await Promise.all([
        book.finish(jobId, failed, { durationMs: 1 }),
        book.finish(jobId, completed(3), { durationMs: 1 }),
      ]);
      t.match(ends[0], { phase: 'failed' });
      t.match((await book.finish(jobId, completed(9), { durationMs: 1 })) ?? null, null);
      t.equal(await ledger.available('a'), 100);
    });
  });
}

t.test('recovery', async (t) => {
  t.test('queues what was queued or running again, oldest first', async (t) => {
    const { book } = await openStored(t);
    const jobs = [];
    for (let i = 0; i < 3; i++) jobs.push((await book.open(newJob)).job);
    await book.begin(jobs[0]?.jobId as string);
    const again = await book.recover();
    t.same(
      again.map(({ jobId, phase, attempts }) => [jobId, phase, attempts]),
      jobs.map(({ jobId }) => [jobId, 'queued', 0]),
    );
  });

  t.test('fails no job for crashes of the service, and says how many there were', async (t) => {
    const { book, ledger, storage } = await openStored(t);
    const { jobId } = (await book.open(newJob)).job;
    for (let crashes = 1; crashes <= 20; crashes++) {
      t.match(await book.begin(jobId), { attempts: 1 });
      t.match(await book.recover(), [{ jobId, phase: 'queued', attempts: 0, interruptions: crashes }]);
    }
    t.equal(await ledger.available('a'), 95, 'its reserve is held');
    await book.begin(jobId);
    await book.finish(jobId, completed(1), { durationMs: 1 });
    t.match(await storage.getJob(jobId), { phase: 'completed', attempts: 1 });
  });

  t.test('keeps the attempts that renderers ended by dying', async (t) => {
    const { book } = await openStored(t);
    const { jobId } = (await book.open(newJob)).job;
    await book.begin(jobId);
    await book.requeue(jobId, { counted: true });
    await book.begin(jobId);
    t.match(await book.recover(), [{ jobId, attempts: 1, interruptions: 1 }]);
    t.match(await book.begin(jobId), { attempts: 2 });
    t.equal(await book.requeue(jobId, { counted: true }), undefined, 'there is no third one');
  });

  t.test('a cut-off attempt may have left artifacts: they are looked for when the job fails', async (t) => {
    const folder = new DataFolder(t.testdir());
    await folder.start();
    t.teardown(() => folder.stop());
    const orphans: string[] = [];
    const book = new JobBook({
      storage: folder.storage,
      ledger: new DistantLedger(100),
      pricing: new Pricing(),
      clock,
      onOrphans: (assetKeys) => orphans.push(...assetKeys),
    });
    const { jobId } = (await book.open(newJob)).job;
    await book.begin(jobId);
    await book.recover();
    await book.begin(jobId);
    await book.finish(jobId, failed, { durationMs: 1, storedNothing: true });
    t.ok(orphans.includes(`${jobId}/video.mp4`));
  });

  t.test('an attempt that a shutdown ended is not counted', async (t) => {
    const { book } = await openStored(t);
    const { jobId } = (await book.open(newJob)).job;
    for (let i = 0; i < 5; i++) {
      await book.begin(jobId);
      t.match(await book.requeue(jobId, { counted: false }), { phase: 'queued', attempts: 0 });
    }
  });
});

t.test('a distant ledger that fails', async (t) => {
  for (const fault of ['before', 'after'] as const) {
    t.test(`${fault} it reserved: no job, and the reserve doesn’t leak`, async (t) => {
      const { book, ledger, storage } = await openDistant(t);
      ledger.fault = fault;
      await t.rejects(book.open(newJob), { message: /billing system/ });
      t.same(await storage.unfinishedJobs(), []);
      t.equal(ledger.balanceCredits, 100);
    });

    t.test(
      `${fault} it settled: the job is still running for its owner, and asking again charges once`,
      async (t) => {
        const { book, ledger, storage } = await openDistant(t);
        const { jobId } = (await book.open(newJob)).job;
        await book.begin(jobId);
        ledger.fault = fault;
        await t.rejects(book.finish(jobId, completed(3), { durationMs: 1 }), { message: /billing system/ });
        t.match(await storage.getJob(jobId), { phase: 'settling', outcome: completed(3) });
        t.match(await book.finish(jobId, completed(3), { durationMs: 1 }), {
          phase: 'completed',
          creditsCost: 3,
        });
        t.equal(ledger.balanceCredits, 97);
      },
    );

    t.test(`${fault} it settled, and the service died: recovery asks again`, async (t) => {
      const { book, ledger, storage } = await openDistant(t);
      const { jobId } = (await book.open(newJob)).job;
      await book.begin(jobId);
      ledger.fault = fault;
      await t.rejects(book.finish(jobId, completed(3), { durationMs: 77 }));
      t.same(await book.recover(), []);
      t.match(await storage.getJob(jobId), { phase: 'completed', creditsCost: 3, durationMs: 77 });
      t.equal(ledger.balanceCredits, 97);
    });
  }

  t.test('a service that died while reserving: recovery undoes it', async (t) => {
    const { book, ledger, storage } = await openDistant(t);
    // The first call reserves and its answer is lost; the void that follows doesn't get through either.
    const reserve = ledger.reserve.bind(ledger);
    ledger.reserve = async (request) => {
      await reserve(request);
      ledger.fault = 'before';
      throw new Error('lost');
    };
    await t.rejects(book.open(newJob), { message: 'lost' });
    t.match(await storage.unfinishedJobs(), [{ phase: 'reserving' }]);
    t.same(await storage.listJobs({}), [], 'it is not visible');
    t.equal(ledger.balanceCredits, 95);
    t.same(await book.recover(), []);
    t.same(await storage.unfinishedJobs(), []);
    t.equal(ledger.balanceCredits, 100);
  });
});
