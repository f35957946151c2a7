import { AssertionError } from 'node:assert/strict';
import t from 'tap';
import type { JobRecord } from '../../../../lib/model/job.ts';
import { clock, completed, failed, newJob, openDistant, openStored } from '../../../fixtures/books.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';

for (const [name, open] of [
  ['a ledger that joins transactions', openStored],
  ['an external ledger', openDistant],
] as const) {
  t.test(name, async (t) => {
    t.test('a job that completes is charged, and terminal from then on', async (t) => {
      const { book, storage, ledger, begin } = await open(t);
      const { jobId } = (await book.add(newJob)).job;
      const { claim } = await begin(jobId);
      const artifacts = [{ name: 'video.mp4' as const, assetKey: 'k', sizeBytes: 1 }];
      const plays = [{ line: 5, shows: 'Create(Circle)', startSeconds: 0, seconds: 1 }];
      const output = 'printed\n';
      const { job, orphans } =
        (await book.finish(claim, { ...completed(3), artifacts } as never, {
          durationMs: 2500,
          plays,
          output,
        })) ?? {};
      t.match(job, {
        phase: 'completed',
        creditsCost: 3,
        durationMs: 2500,
        completedAtMs: clock.now(),
        outcome: null,
        artifacts,
      });
      t.same(orphans, [], 'its only attempt left none');
      t.same(await storage.readTrace(jobId), { plays, output });
      t.same(await storage.getJob(jobId), job);
      t.equal((await storage.queue.state()).running, 0);
      t.equal(await ledger.available('a'), 97);
      t.equal(await book.cancel(jobId), undefined);
      t.equal(await book.complete(jobId), undefined);
      t.same(await storage.getJob(jobId), job);
    });

    t.test('plays and output are stored if there are any', async (t) => {
      const { book, storage, begin } = await open(t);
      const play = { line: 5, shows: 'Create(Circle)', startSeconds: 0, seconds: 1 };
      const put = storage.putTrace.bind(storage);
      let puts = 0;
      storage.putTrace = (...values) => {
        puts += 1;
        return put(...values);
      };
      const cases: [trace: { plays?: (typeof play)[]; output?: string }, puts: number][] = [
        [{}, 0],
        [{ plays: [], output: '' }, 0],
        [{ plays: [play] }, 1],
        [{ output: 'printed' }, 1],
      ];
      for (const [trace, expected] of cases) {
        puts = 0;
        const { claim } = await begin((await book.add(newJob)).job.jobId);
        await book.finish(claim, failed, { durationMs: 1, ...trace });
        t.equal(puts, expected);
      }
    });

    t.test('the end of a claim is urgent, that of a waiting job is not', async (t) => {
      const { book, storage, begin } = await open(t);
      const { claim } = await begin((await book.add(newJob)).job.jobId);
      const { jobId: waiting } = (await book.add(newJob)).job;
      const transaction = storage.transaction.bind(storage);
      let hasUrgent = false;
      storage.transaction = (work, options) => {
        hasUrgent ||= options?.isUrgent === true;
        return transaction(work, options);
      };
      await book.cancel(waiting);
      t.notOk(hasUrgent);
      await book.finish(claim, failed, { durationMs: 1 });
      t.ok(hasUrgent);
    });

    t.test('a job that fails is charged nothing, and names who caused it', async (t) => {
      for (const failedBy of ['scene', undefined] as const) {
        const { book, ledger, begin } = await open(t);
        const { claim } = await begin((await book.add(newJob)).job.jobId);
        const outcome = failedBy ? { ...failed, failedBy } : failed;
        t.match(await book.finish(claim, outcome, { durationMs: 7 }), {
          job: {
            phase: 'failed',
            error: 'no',
            failedBy: failedBy ?? 'service',
            durationMs: 7,
            creditsCost: 0,
          },
        });
        t.equal(await ledger.available('a'), 100);
      }
    });

    t.test('a job whose cost the credits do not cover fails by them', async (t) => {
      const { book, begin } = await open(t);
      const { claim } = await begin((await book.add(newJob)).job.jobId);
      t.match(await book.finish(claim, completed(101), { durationMs: 1 }), {
        job: { phase: 'failed', error: /^The credits ran out/, failedBy: 'credits' },
      });
    });

    t.test('a canceled job ran from its start to now, in whole milliseconds', async (t) => {
      const { book, begin } = await open(t);
      const queued = (await book.add(newJob)).job.jobId;
      clock.advance(5_000);
      t.match(await book.cancel(queued), { job: { durationMs: 0 }, orphans: [] });
      const [running, early] = [(await book.add(newJob)).job.jobId, (await book.add(newJob)).job.jobId];
      await begin(running);
      clock.advance(1_234.5);
      const { job, orphans } = (await book.cancel(running)) ?? {};
      t.match(job, { phase: 'failed', failedBy: 'cancel', durationMs: 1_234 });
      t.equal(orphans?.length, 4, 'it may have stored something');
      clock.advance(0.5);
      await begin(early);
      clock.advance(-10_000);
      t.match(await book.cancel(early), { job: { durationMs: 0 } }, 'also when the clock was set back');
    });

    t.test('orphans are looked for where an attempt may have left some', async (t) => {
      const { book, begin } = await open(t);
      const ended = async (
        outcome: 'completed' | 'failed',
        storedNothing?: boolean,
        before: { counted: boolean }[] = [],
      ) => {
        const { jobId } = (await book.add(newJob)).job;
        for (const attempt of before) await book.claims.requeue((await begin(jobId)).claim, attempt);
        const { claim } = await begin(jobId);
        const options = { durationMs: 1, ...(storedNothing !== undefined && { storedNothing }) };
        const { orphans } =
          (await book.finish(claim, outcome === 'failed' ? failed : completed(1), options)) ?? {};
        return orphans?.length;
      };
      t.equal(await ended('completed'), 0);
      t.equal(await ended('failed', true), 0);
      t.equal(await ended('failed', false), 4);
      t.equal(await ended('failed'), 4);
      for (const counted of [true, false])
        t.equal(await ended('completed', true, [{ counted }]), 8, 'after two attempts, of both');
      const { jobId } = (await book.add(newJob)).job;
      await book.claims.requeue((await begin(jobId)).claim, { interrupted: true });
      t.equal((await book.cancel(jobId))?.orphans.length, 4, 'of an interrupted one');
      const waiting = (await book.add(newJob)).job.jobId;
      await book.claims.requeue((await begin(waiting)).claim);
      t.equal((await book.cancel(waiting))?.orphans.length, 4, 'of one that was not counted');
    });

    t.test('what belongs to the end is committed with it, or the job does not end', async (t) => {
      const ends: JobRecord[] = [];
      let failure: Error | undefined = new Error('refused');
      const deliveries = {
        async add(_: unknown, job: JobRecord) {
          if (failure) throw failure;
          ends.push(job);
        },
      };
      const { book, storage, begin } = await open(t, 100, { deliveries });
      const { jobId } = (await book.add(newJob)).job;
      const { claim } = await begin(jobId);
      await t.rejects(book.finish(claim, completed(3), { durationMs: 1 }), { message: 'refused' });
      t.match((await storage.getJob(jobId))?.phase, /^(running|settling)$/);
      failure = undefined;
      const { job } =
        (await book.complete(jobId)) ?? (await book.finish(claim, completed(3), { durationMs: 1 })) ?? {};
      t.match(job, { phase: 'completed' });
      t.same(ends, [job]);
    });
  });
}

t.test('with an external ledger, the first outcome is final before the ledger answers', async (t) => {
  const { book, storage, ledger, begin } = await openDistant(t);
  const { jobId } = (await book.add(newJob)).job;
  const { claim } = await begin(jobId);
  ledger.fault = 'before';
  await t.rejects(book.finish(claim, completed(3), { durationMs: 2500 }), { message: /does not answer/ });
  t.match(await storage.getJob(jobId), { phase: 'settling', durationMs: 2500, outcome: completed(3) });
  t.equal((await storage.queue.state()).running, 0, 'a claim is no longer needed');
  t.match(await book.cancel(jobId), { job: { phase: 'completed', creditsCost: 3, durationMs: 2500 } });
});

t.test('a job is not written with credits that a ledger answered as text', async (t) => {
  const { book, storage, ledger, begin } = await openDistant(t);
  const { jobId } = (await book.add(newJob)).job;
  const { claim } = await begin(jobId);
  const settle = ledger.settle.bind(ledger);
  ledger.settle = async (request) => {
    const answer = await settle(request);
    return { ...answer, chargedCredits: '3' } as never;
  };
  await t.rejects(book.finish(claim, completed(3), { durationMs: 2500 }), {
    message: /^The ledger DistantLedger answered `settle` with .*chargedCredits: '3'/,
  });
  t.match(await storage.getJob(jobId), { phase: 'settling' });
  ledger.settle = settle;
  t.match(await book.complete(jobId), { job: { phase: 'completed', creditsCost: 3 } });
});

t.test('with an external ledger, concurrent calls end a job once', async (t) => {
  let ends = 0;
  const deliveries = { add: async () => void ends++ };
  const { book, ledger, begin } = await openDistant(t, 100, { deliveries });
  const { jobId } = (await book.add(newJob)).job;
  const { claim } = await begin(jobId);
  ledger.fault = 'before';
  await book.finish(claim, completed(3), { durationMs: 1 }).catch(() => {});
  const all = await Promise.all([book.complete(jobId), book.complete(jobId), book.complete(jobId)]);
  t.ok(all.some((ended) => ended?.job.phase === 'completed'));
  t.equal(ends, 1);
  t.equal(ledger.balanceCredits, 97);
});

t.test('a secret that was sealed again while the ledger answered is kept', async (t) => {
  const { book, storage, ledger } = await openDistant(t);
  const insert = (jobId: string, change: Partial<JobRecord> = {}) =>
    storage.transaction((tx) =>
      storage.insertJob(tx, jobRecord(jobId, { phase: 'settling', durationMs: 1, ...change }), ''),
    );
  await insert('with', { webhookSecretSealed: 'old' });
  await insert('without');
  const release = ledger.void.bind(ledger);
  ledger.void = async (job) => {
    await storage.resealSecrets({ reseal: () => 'new', from: undefined, limit: 10 });
    return release(job);
  };
  t.equal((await book.complete('with'))?.job.webhookSecretSealed, 'new');
  t.notOk('webhookSecretSealed' in ((await book.complete('without'))?.job ?? {}));
});

t.test('a job that is being reserved does not end, and one without an outcome cannot', async (t) => {
  const { book, storage } = await openDistant(t);
  await storage.transaction(async (tx) => {
    await storage.insertJob(tx, jobRecord('reserving', { phase: 'reserving' }), '');
    await storage.insertJob(tx, jobRecord('broken', { phase: 'settling', durationMs: null }), '');
  });
  t.equal(await book.cancel('reserving'), undefined);
  t.equal(await book.cancel('unknown'), undefined);
  await t.rejects(book.complete('broken'), AssertionError);
});
