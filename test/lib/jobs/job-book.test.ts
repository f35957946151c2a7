import t from 'tap';
import { IDEMPOTENCY_MS, type JobBook } from '../../../lib/jobs/job-book.ts';
import { clock, completed, failed, newJob, openDistant, openStored } from '../../fixtures/books.ts';

for (const [name, open] of [
  ['a ledger that joins transactions', openStored],
  ['an external ledger', openDistant],
] as const) {
  t.test(name, async (t) => {
    t.test('reserves credits, then charges the cost of the render', async (t) => {
      const { book, ledger, begin } = await open(t);
      const { jobId } = (await book.open(newJob)).job;
      t.equal(await ledger.available('a'), 95);
      const { job: running, claim } = await begin(jobId);
      t.match(running, { phase: 'running', attempts: 1, token: claim.token });
      const { job } = (await book.finish(claim, completed(3), { durationMs: 2500 })) ?? {};
      t.match(job, { phase: 'completed', creditsCost: 3, durationMs: 2500, outcome: null });
      t.equal(await ledger.available('a'), 97);
    });

    t.test('returns the whole reserve for a failed render', async (t) => {
      const { book, ledger, begin } = await open(t);
      const { claim } = await begin((await book.open(newJob)).job.jobId);
      t.match(await book.finish(claim, failed, { durationMs: 0 }), {
        job: { phase: 'failed', error: 'no', creditsCost: 0 },
      });
      t.equal(await ledger.available('a'), 100);
    });

    t.test('fails a render that exceeds the balance and returns the reserve', async (t) => {
      const { book, ledger, begin } = await open(t);
      const { claim } = await begin((await book.open(newJob)).job.jobId);
      const { job } = (await book.finish(claim, completed(101), { durationMs: 101_000 })) ?? {};
      t.match(job, { phase: 'failed', creditsCost: 0, error: /credits ran out/, artifacts: [] });
      t.equal(await ledger.available('a'), 100);
    });

    t.test('creates no job if the balance is below the reserve', async (t) => {
      const { book, storage } = await open(t, 4);
      await t.rejects(book.open(newJob), { code: 'insufficient_credits' });
      t.same(await storage.listJobs({}), []);
      t.same(await storage.unfinishedJobs(), []);
    });

    t.test('returns the job of a repeated request, even when no credits are left', async (t) => {
      const { book, ledger, storage } = await open(t, 5);
      const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
      const first = await book.open(request);
      t.equal(first.repeated, false);
      t.equal(await ledger.available('a'), 0);
      const again = await book.open(request, {
        capacity: () => void t.fail('a repeated request must not be admitted'),
      });
      t.match(again, { repeated: true, job: { jobId: first.job.jobId } });
      t.equal((await storage.listJobs({})).length, 1);
      const other = { ...request, idempotency: { key: 'k', fingerprint: 'g' } };
      await t.rejects(book.open(other), { code: 'conflict' });
    });

    t.test(
      'allows an idempotency key to be reused after a day, or if its first request was rejected',
      async (t) => {
        const { book, ledger, storage } = await open(t, 10);
        const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
        const { jobId } = (await book.open(request)).job;
        clock.advance(IDEMPOTENCY_MS + 1);
        t.match(
          await book.open(request),
          { repeated: true },
          'until the key is removed, whatever the clock says',
        );
        await book.forgetOldRequests();
        const next = await book.open(request);
        t.not(next.job.jobId, jobId);
        t.equal(await ledger.available('a'), 0);
        const poor = { ...newJob, idempotency: { key: 'k2', fingerprint: 'f' } };
        await t.rejects(book.open(poor), { code: 'insufficient_credits' });
        await book.cancel(jobId);
        t.equal((await book.open(poor)).repeated, false);
        clock.advance(IDEMPOTENCY_MS + 1);
        await book.forgetOldRequests();
        t.equal(await storage.transaction((tx) => storage.getIdempotentRequest('a', 'k', tx)), undefined);
      },
    );

    t.test('checks admission before it reserves credits', async (t) => {
      const { book, ledger } = await open(t);
      const full = () => {
        throw new Error('full');
      };
      await t.rejects(book.open(newJob, { capacity: full }), { message: 'full' });
      t.equal(await ledger.available('a'), 100);
    });

    t.test('checks the owner before it returns the job of a repeated request', async (t) => {
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
      const { book, ledger, begin } = await open(t);
      const { claim } = await begin((await book.open(newJob)).job.jobId);
      const ends = await Promise.all([
        book.finish(claim, failed, { durationMs: 1 }),
        book.finish(claim, completed(3), { durationMs: 1 }),
      ]);
      const [phase, ...others] = new Set(ends.flatMap((end) => end?.job?.phase ?? []));
      t.same(others, []);
      t.equal(await book.finish(claim, completed(9), { durationMs: 1 }), undefined);
      t.equal(await ledger.available('a'), phase === 'completed' ? 97 : 100);
    });
  });
}

t.test('the message of a refused reserve says what the ledger suggests', async (t) => {
  const messageOf = async ({ book }: { book: JobBook }) => {
    const error = (await book.open(newJob).catch((error: unknown) => error)) as Error;
    return error.message;
  };
  const refused = 'This render needs a reserve of 5 credits, more than the balance.';
  t.equal(
    await messageOf(await openStored(t, 4)),
    `${refused} Top up credits, or wait for next month's free credits.`,
  );
  t.equal(await messageOf(await openStored(t, 0)), `${refused} Top up credits, then try again.`);
  const external = await openDistant(t, 4);
  t.equal(await messageOf(external), `${refused} Top up credits, then try again.`);
  external.ledger.topUpHint = 'Ask your administrator for credits.';
  t.equal(await messageOf(external), `${refused} Ask your administrator for credits.`);
});

t.test('failures of an external ledger', async (t) => {
  for (const fault of ['before', 'after'] as const) {
    t.test(`${fault} reserving: no job is created and no reserve leaks`, async (t) => {
      const { book, ledger, storage } = await openDistant(t);
      ledger.fault = fault;
      await t.rejects(book.open(newJob), { message: /billing system/ });
      t.same(await storage.unfinishedJobs(), []);
      t.equal(ledger.balanceCredits, 100);
    });

    t.test(`${fault} settling: the job stays settling, and a retry charges once`, async (t) => {
      const { book, ledger, storage, begin } = await openDistant(t);
      const { jobId } = (await book.open(newJob)).job;
      const { claim } = await begin(jobId);
      ledger.fault = fault;
      await t.rejects(book.finish(claim, completed(3), { durationMs: 1 }), { message: /billing system/ });
      t.match(await storage.getJob(jobId), { phase: 'settling', outcome: completed(3) });
      t.same(await book.claims.renew([claim]), [], 'a job being settled needs no claim');
      t.match(await book.finish(claim, failed, { durationMs: 1 }), {
        job: { phase: 'completed', creditsCost: 3 },
      });
      t.equal(ledger.balanceCredits, 97);
    });

    t.test(`${fault} settling, followed by a crash: recovery settles again`, async (t) => {
      const { book, ledger, storage, begin } = await openDistant(t);
      const { jobId } = (await book.open(newJob)).job;
      const { claim } = await begin(jobId);
      ledger.fault = fault;
      await t.rejects(book.finish(claim, completed(3), { durationMs: 77 }));
      t.match(await book.recover(), { requeued: [], stuck: [] });
      t.match(await storage.getJob(jobId), { phase: 'completed', creditsCost: 3, durationMs: 77 });
      t.equal(ledger.balanceCredits, 97);
    });
  }

  t.test('a job that another process settles meanwhile is not reported as failed', async (t) => {
    const { book, ledger, storage, begin } = await openDistant(t);
    const { jobId } = (await book.open(newJob)).job;
    const { claim } = await begin(jobId);
    const settle = ledger.settle.bind(ledger);
    ledger.settle = async (request) => {
      const answer = await settle(request);
      t.same(answer, { kind: 'insufficient' });
      ledger.settle = settle;
      ledger.balanceCredits += 100;
      await book.resume(jobId);
      return answer;
    };
    await t.rejects(book.finish(claim, completed(101), { durationMs: 1 }), { message: /is settled/ });
    t.match(await storage.getJob(jobId), { phase: 'completed', creditsCost: 101 });
    t.equal(ledger.balanceCredits, 99);
    t.equal(await book.resume(jobId), undefined);
  });

  t.test('a crash while reserving: recovery voids the reserve', async (t) => {
    const { book, ledger, storage } = await openDistant(t);
    // The first call reserves, but its response is lost; the following void fails, too.
    const reserve = ledger.reserve.bind(ledger);
    ledger.reserve = async (request) => {
      await reserve(request);
      ledger.fault = 'before';
      throw new Error('lost');
    };
    await t.rejects(book.open(newJob), { jobId: String, cause: { message: 'lost' } });
    t.match(await storage.unfinishedJobs(), [{ phase: 'reserving' }]);
    t.same(await storage.listJobs({}), [], 'it is not visible');
    t.equal(ledger.balanceCredits, 95);
    t.match(await book.recover(), { requeued: [], stuck: [] });
    t.same(await storage.unfinishedJobs(), []);
    t.equal(ledger.balanceCredits, 100);
  });
});
