import t from 'tap';
import { fingerprintOf } from '../../../lib/jobs/accept/new-job.ts';
import type { JobRecord } from '../../../lib/model/job.ts';
import { clock, completed, failed, newJob, openDistant, openStored } from '../../fixtures/books.ts';
import type { JobBook } from '../../fixtures/job-book.ts';
import { seededBytes } from '../../fixtures/seeded-random.ts';

const DAY_MS = 86_400_000;

for (const [name, open] of [
  ['a ledger that joins transactions', openStored],
  ['an external ledger', openDistant],
] as const) {
  t.test(name, async (t) => {
    t.test('reserves credits, then charges the cost of the render', async (t) => {
      const { book, ledger, begin } = await open(t);
      const { jobId } = (await book.add(newJob)).job;
      t.equal(await ledger.available('a'), 95);
      const { job: running, claim } = await begin(jobId);
      t.match(running, { phase: 'running', attempts: 1, token: claim.token });
      const { job } = (await book.finish(claim, completed(3), { durationMs: 2500 })) ?? {};
      t.match(job, { phase: 'completed', creditsCost: 3, durationMs: 2500, outcome: null, captions: null });
      t.equal(await ledger.available('a'), 97);
    });

    t.test('keeps what the captions of a render say', async (t) => {
      const { book, begin, storage } = await open(t);
      const { claim } = await begin((await book.add(newJob)).job.jobId);
      await book.finish(claim, completed(3), { durationMs: 1, captions: 'A circle' });
      t.match(await storage.getJob(claim.jobId), { phase: 'completed', captions: 'A circle' });
    });

    t.test('returns the whole reserve for a failed render', async (t) => {
      const { book, ledger, begin } = await open(t);
      const { claim } = await begin((await book.add(newJob)).job.jobId);
      t.match(await book.finish(claim, failed, { durationMs: 0 }), {
        job: { phase: 'failed', error: 'no', creditsCost: 0 },
      });
      t.equal(await ledger.available('a'), 100);
    });

    t.test('fails a render that exceeds the balance and returns the reserve', async (t) => {
      const { book, ledger, begin } = await open(t);
      const { claim } = await begin((await book.add(newJob)).job.jobId);
      const options = { durationMs: 101_000, captions: 'A circle' };
      const { job } = (await book.finish(claim, completed(101), options)) ?? {};
      t.match(job, {
        phase: 'failed',
        creditsCost: 0,
        error: /credits ran out/,
        artifacts: [],
        captions: null,
      });
      t.equal(await ledger.available('a'), 100);
    });

    t.test('creates no job if the balance is below the reserve', async (t) => {
      const { book, storage } = await open(t, 4);
      await t.rejects(book.add(newJob), { code: 'insufficient_credits' });
      t.same(await storage.listJobs({}), []);
      t.same(await storage.unfinishedJobs(), []);
    });

    t.test('returns the job of a repeated request, even when no credits are left', async (t) => {
      const { book, ledger, storage } = await open(t, 5);
      const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
      const first = await book.add(request);
      t.equal(first.repeated, false);
      t.equal(await ledger.available('a'), 0);
      const again = await book.add(request, {
        capacity: () => void t.fail('a repeated request must not be admitted'),
      });
      t.match(again, { repeated: true, job: { jobId: first.job.jobId } });
      t.equal((await storage.listJobs({})).length, 1);
      const other = { ...request, idempotency: { key: 'k', fingerprint: 'g' } };
      await t.rejects(book.add(other), { code: 'conflict' });
    });

    t.test('adds several jobs, or none', async (t) => {
      const { book, ledger, storage } = await open(t, 15);
      const batch = (count: number, key: string) =>
        Array.from({ length: count }, (_, index) => ({
          ...newJob,
          idempotency: { key: `${index} ${key}`, fingerprint: key },
        }));
      await t.rejects(book.addAll(batch(4, 'a')), { code: 'insufficient_credits' });
      t.equal(await ledger.available('a'), 15, 'their reserves are returned');
      t.same(await storage.listJobs({}), []);
      t.same(await storage.unfinishedJobs(), []);
      t.equal((await storage.queue.owners({ after: '', limit: 9 })).length, 0);
      const added = await book.addAll(batch(3, 'a'));
      t.equal(await ledger.available('a'), 0);
      t.equal((await storage.listJobs({ status: 'queued' })).length, 3);
      const again = await book.addAll(batch(3, 'a'), {
        capacity: () => void t.fail('repeated requests must not be admitted'),
      });
      t.same(
        again,
        added.map(({ job }) => ({ job, repeated: true })),
      );
    });

    t.test(
      'allows an idempotency key to be reused after a day, or if its first request was rejected',
      async (t) => {
        const { book, ledger, storage } = await open(t, 10);
        const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
        const { jobId } = (await book.add(request)).job;
        clock.advance(DAY_MS);
        await book.forgetOldRequests();
        t.match(await book.add(request), { repeated: true }, 'it is kept for a day');
        clock.advance(1);
        t.match(
          await book.add(request),
          { repeated: true },
          'until the key is removed, whatever the clock says',
        );
        await book.forgetOldRequests();
        const next = await book.add(request);
        t.not(next.job.jobId, jobId);
        t.equal(await ledger.available('a'), 0);
        const poor = { ...newJob, idempotency: { key: 'k2', fingerprint: 'f' } };
        await t.rejects(book.add(poor), { code: 'insufficient_credits' });
        await book.cancel(jobId);
        t.equal((await book.add(poor)).repeated, false);
        clock.advance(DAY_MS + 1);
        await book.forgetOldRequests();
        t.equal(await storage.transaction((tx) => storage.getIdempotentRequest('a', 'k', tx)), undefined);
      },
    );

    t.test('adds the job as it was requested', async (t) => {
      const { book, storage } = await open(t);
      const { job } = await book.add({
        ...{ owner: 'b', keyId: 'key', metadataJson: '{"a": 1}', webhookUrl: 'https://example.org/' },
        ...{
          title: 'Ferns',
          tags: ['plants', 'è'],
          project: 'garden',
          seed: 7,
          params: { name: 'Ada' },
          audio: [{ file: 'a.wav', atSeconds: 1 }],
          formats: ['mp4', 'srt'],
          selection: { fromPlay: 2, poster: { play: 3 } },
        },
        request: { code: 'y', className: 'B', quality: 'high', aspectRatio: '9:16', fps: 24 },
      });
      const expected: typeof job = {
        ...{ jobId: job.jobId, owner: 'b', phase: 'queued', className: 'B', quality: 'high' },
        ...{ aspectRatio: '9:16', fps: 24, metadataJson: '{"a": 1}', webhookUrl: 'https://example.org/' },
        ...{ title: 'Ferns', tags: ['plants', 'è'], seed: 7, params: { name: 'Ada' }, formats: ['srt'] },
        audio: [{ file: 'a.wav', atSeconds: 1 }],
        ...{ keyId: 'key', reserveCredits: 20, attempts: 0, createdAtMs: clock.now() },
        ...{ startedAtMs: null, completedAtMs: null, durationMs: null, creditsCost: 0, usage: null },
        ...{ outcome: null, artifacts: [], error: null, diagnosis: null, traceContext: null },
        selection: { fromPlay: 2, poster: { play: 3 } },
        ...{ starred: null, project: 'garden', captions: null },
      };
      t.strictSame(job, expected);
      t.strictSame(await storage.getJob(job.jobId), expected);
      t.equal(await storage.readSource(job.jobId), 'y');
      t.equal((await book.add(newJob)).job.fps, 15, 'the default of its quality');
      const precedence = { yields: false, inGoodStanding: true };
      t.match(await storage.queue.owners({ after: '', limit: 9 }), [
        { owner: 'a', ...precedence },
        { owner: 'b', ...precedence },
      ]);
    });

    t.test('stores a webhook secret encrypted', async (t) => {
      const secrets = { seal: (secret: string) => `sealed ${secret}` };
      const { book, storage } = await open(t, 100, { secrets });
      const { job } = await book.add({ ...newJob, webhookSecret: 'secret' });
      t.equal(job.webhookSecretSealed, 'sealed secret');
      t.equal((await storage.getJob(job.jobId))?.webhookSecretSealed, 'sealed secret');
      t.notOk('webhookSecretSealed' in (await book.add(newJob)).job);
      const without = await open(t);
      const added = without.book.add({ ...newJob, webhookSecret: 'secret' });
      await t.rejects(added, { code: 'ERR_ASSERTION', message: /`secrets` is required/ });
    });

    t.test('limits the queued jobs of all and of each owner', async (t) => {
      const { book, ledger } = await open(t, 1_000, {
        caps: {
          ...{ maxQueued: 5, maxQueuedPerOwner: 2 },
          maxQueuedOf: async (owner) => (owner === 'more' ? 3 : undefined),
        },
      });
      for (const [owner, most] of [
        ['a', 2],
        ['more', 3],
      ] as const) {
        for (let count = 0; count < most; count++) await book.add({ ...newJob, owner });
        const before = await ledger.available(owner);
        await t.rejects(book.add({ ...newJob, owner }), { code: 'queue_full' });
        t.equal(await ledger.available(owner), before);
      }
    });

    t.test('makes ids of the given random bytes', async (t) => {
      const idOf = async (seed: number) => {
        const { book } = await open(t, 100, { random: seededBytes(seed) });
        return (await book.add(newJob)).job.jobId;
      };
      t.equal(await idOf(1), await idOf(1));
      t.not(await idOf(1), await idOf(2));
    });

    t.test('checks admission before it reserves credits', async (t) => {
      const { book, ledger } = await open(t);
      const full = () => {
        throw new Error('full');
      };
      await t.rejects(book.add(newJob, { capacity: full }), { message: 'full' });
      t.equal(await ledger.available('a'), 100);
    });

    t.test('checks the owner before it returns the job of a repeated request', async (t) => {
      const { book, ledger, storage } = await open(t);
      const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
      const refuse = () => Promise.reject(new Error('refused'));
      await t.rejects(book.add(request, { owner: refuse }), { message: 'refused' });
      t.equal(await ledger.available('a'), 100);
      t.same(await storage.listJobs({}), []);
      await book.add(request);
      await t.rejects(book.add(request, { owner: refuse }), { message: 'refused' });
    });

    t.test('locks an owner before it is checked, and one without a check not at all', async (t) => {
      const { book, storage } = await open(t);
      const calls: string[] = [];
      storage.lockOwner = async (_tx, owner) => void calls.push(`lock ${owner}`);
      await book.add(newJob);
      t.same(calls, []);
      await book.add(newJob, { owner: async () => void calls.push('check') });
      t.same(calls.slice(0, 2), ['lock a', 'check']);
    });

    t.test('ends a job once: the first outcome counts', async (t) => {
      const { book, ledger, begin } = await open(t);
      const { claim } = await begin((await book.add(newJob)).job.jobId);
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

t.test('with a ledger that joins transactions, job and reserve are one commit', async (t) => {
  const { book, storage } = await openStored(t);
  let transactions = 0;
  const transaction = storage.transaction.bind(storage);
  t.intercept(storage, 'transaction', {
    value: async (work: Parameters<typeof transaction>[0]) => {
      transactions += 1;
      return transaction(work);
    },
  });
  await book.add(newJob);
  t.equal(transactions, 1);
});

t.test('fingerprints are equal for equal requests only', (t) => {
  const other = { ...newJob, request: { ...newJob.request, code: 'y' } };
  t.match(fingerprintOf(newJob), /^[0-9a-f]{64}$/);
  t.equal(fingerprintOf(newJob), fingerprintOf({ ...newJob }));
  t.not(fingerprintOf(newJob), fingerprintOf(other));
  t.end();
});

t.test('the message of a refused reserve contains the advice of the ledger', async (t) => {
  const messageOf = async ({ book }: { book: JobBook }) => {
    const error = (await book.add(newJob).catch((error: unknown) => error)) as Error;
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
  const message = 'The contract of this account has ended.';
  Object.assign(external.ledger, { reserve: async () => ({ kind: 'insufficient', message }) });
  t.equal(await messageOf(external), message);
});

t.test('failures of an external ledger', async (t) => {
  for (const fault of ['before', 'after'] as const) {
    t.test(`${fault} reserving: no job is created and no reserve leaks`, async (t) => {
      const { book, ledger, storage } = await openDistant(t);
      ledger.fault = fault;
      await t.rejects(book.add(newJob), { message: /billing system/ });
      t.same(await storage.unfinishedJobs(), []);
      t.equal(ledger.balanceCredits, 100);
    });

    t.test(`${fault} settling: the job stays settling, and a retry charges once`, async (t) => {
      const { book, ledger, storage, begin } = await openDistant(t);
      const { jobId } = (await book.add(newJob)).job;
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
      const { jobId } = (await book.add(newJob)).job;
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
    const { jobId } = (await book.add(newJob)).job;
    const { claim } = await begin(jobId);
    const settle = ledger.settle.bind(ledger);
    ledger.settle = async (request) => {
      const answer = await settle(request);
      t.same(answer, { kind: 'insufficient' });
      ledger.settle = settle;
      ledger.balanceCredits += 100;
      await book.complete(jobId);
      return answer;
    };
    await t.rejects(book.finish(claim, completed(101), { durationMs: 1 }), { message: /is settled/ });
    t.match(await storage.getJob(jobId), { phase: 'completed', creditsCost: 101 });
    t.equal(ledger.balanceCredits, 99);
    t.equal(await book.complete(jobId), undefined);
  });

  t.test('a request that is still being processed cannot be repeated', async (t) => {
    const { book, ledger } = await openDistant(t);
    const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
    const reserve = ledger.reserve.bind(ledger);
    ledger.reserve = async (asked) => {
      ledger.reserve = reserve;
      const message = /still being processed/;
      await t.rejects(book.add(request), { code: 'conflict', message });
      return reserve(asked);
    };
    const { job } = await book.add(request);
    t.match(await book.add(request), { repeated: true, job: { jobId: job.jobId } });
    t.equal(ledger.balanceCredits, 95);
  });

  t.test('a job that no longer fits the queue when the ledger answers is rolled back', async (t) => {
    const caps = { maxQueued: 10, maxQueuedPerOwner: 1 };
    const { book, ledger, storage } = await openDistant(t, 100, { caps });
    const reserve = ledger.reserve.bind(ledger);
    ledger.reserve = async (asked) => {
      ledger.reserve = reserve;
      await book.add(newJob);
      return reserve(asked);
    };
    await t.rejects(book.add(newJob), { code: 'queue_full' });
    t.equal((await storage.unfinishedJobs()).length, 1);
    t.equal(ledger.balanceCredits, 95);
  });

  t.test('a job that cannot be settled during recovery is reported as stuck', async (t) => {
    const { book, ledger, storage, begin } = await openDistant(t);
    const { jobId } = (await book.add(newJob)).job;
    const { claim } = await begin(jobId);
    ledger.faults = () => 'before';
    await t.rejects(book.finish(claim, failed, { durationMs: 1 }));
    t.same(await book.recover(), { requeued: [], orphans: [], stuck: [jobId] });
    t.match(await storage.getJob(jobId), { phase: 'settling' });
    ledger.faults = undefined;
    Object.assign(storage, { isShared: true });
    const { orphans, ...rest } = await book.recover();
    t.same(rest, { requeued: [], stuck: [] });
    t.ok(orphans.includes(`${jobId}-${claim.token}/video.mp4`), 'it may have stored something');
    t.match(await storage.getJob(jobId), { phase: 'failed' });
  });

  t.test('a rollback writes the job before it calls the ledger', async (t) => {
    const { book, ledger, storage } = await openDistant(t);
    const steps: string[] = [];
    const updateJob = storage.updateJob.bind(storage);
    t.intercept(storage, 'updateJob', {
      value: async (...args: Parameters<typeof updateJob>) => {
        steps.push(`update ${args[1].phase}`);
        return updateJob(...args);
      },
    });
    const voidReserve = ledger.void.bind(ledger);
    ledger.void = async (request) => {
      steps.push('void');
      return voidReserve(request);
    };
    ledger.fault = 'before';
    await t.rejects(book.add(newJob));
    t.same(steps, ['update reserving', 'void']);
    t.equal(await book.complete('unknown'), undefined);
    t.same(steps.length, 2);
  });

  t.test('a rollback can run twice at the same time, and leaves a job that was queued', async (t) => {
    for (const how of ['twice', 'queued'] as const) {
      const { book, ledger, storage } = await openDistant(t);
      ledger.faults = () => 'before';
      await t.rejects(book.add(newJob));
      ledger.faults = undefined;
      const [job] = (await storage.unfinishedJobs()) as [JobRecord];
      const voidReserve = ledger.void.bind(ledger);
      ledger.void = async (request) => {
        ledger.void = voidReserve;
        await voidReserve(request);
        if (how === 'twice') await book.complete(job.jobId);
        else await storage.transaction((tx) => storage.updateJob(tx, { ...job, phase: 'queued' }));
      };
      t.equal(await book.complete(job.jobId), undefined);
      t.match(await storage.getJob(job.jobId), how === 'twice' ? undefined : { phase: 'queued' });
    }
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
    await t.rejects(book.add(newJob), { jobIds: [String], cause: { message: 'lost' } });
    t.match(await storage.unfinishedJobs(), [{ phase: 'reserving' }]);
    t.same(await storage.listJobs({}), [], 'it is not visible');
    t.equal(ledger.balanceCredits, 95);
    t.same(await book.recover(), { requeued: [], orphans: [], stuck: [] });
    t.same(await storage.unfinishedJobs(), []);
    t.equal(ledger.balanceCredits, 100);
  });
});
