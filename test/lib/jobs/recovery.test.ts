import t, { type Test } from 'tap';
import type { ClaimedJob } from '../../../lib/jobs/run/job-claims.ts';
import { clock, completed, newJob, openDistant, openStored, restart } from '../../fixtures/books.ts';
import { claimJobs } from '../../fixtures/claims.ts';

/** How long a process may reserve a job. */
const MOST_RESERVING_MS = 300_000;

t.test('recovery', async (t) => {
  t.test('requeues running jobs at the front', async (t) => {
    const { book, storage, begin } = await openStored(t);
    const jobs = [];
    for (let i = 0; i < 3; i++) jobs.push((await book.add(newJob)).job.jobId);
    await begin(jobs[0] as string);
    await restart(storage);
    t.match((await book.recover()).requeued, [
      { jobId: jobs[0], phase: 'queued', attempts: 0, interruptions: 1 },
    ]);
    t.same(
      (await claimJobs(book)).map(({ job }) => [job.jobId, job.attempts]),
      jobs.map((jobId) => [jobId, 1]),
    );
  });

  t.test('fails no job because of crashes of the service, and counts them', async (t) => {
    const { book, ledger, storage, begin } = await openStored(t);
    const { jobId } = (await book.add(newJob)).job;
    for (let crashes = 1; crashes <= 20; crashes++) {
      t.match(await begin(jobId), { job: { attempts: 1 } });
      await restart(storage);
      t.match((await book.recover()).requeued, [
        { jobId, phase: 'queued', attempts: 0, interruptions: crashes },
      ]);
    }
    t.equal(await ledger.available('a'), 95, 'its reserve is kept');
    const { claim } = await begin(jobId);
    t.equal(claim.interruptions, 20);
    await book.finish(claim, completed(1), { durationMs: 1 });
    t.match(await storage.getJob(jobId), { phase: 'completed', attempts: 1 });
  });

  t.test('delays a job that was interrupted twice, longer each time', async (t) => {
    const { book, storage, begin } = await openStored(t);
    const { jobId } = (await book.add(newJob)).job;
    for (const holdMs of [
      0, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000,
    ]) {
      await begin(jobId);
      await restart(storage);
      await book.recover();
      if (holdMs > 0) {
        clock.advance(holdMs - 1);
        t.same(await claimJobs(book), [], `${holdMs} ms have not passed`);
        clock.advance(1);
      }
      const [claimed] = (await claimJobs(book)) as [ClaimedJob];
      await book.claims.requeue(claimed.claim);
    }
  });

  t.test('keeps the count of attempts whose renderer died', async (t) => {
    const { book, storage, begin } = await openStored(t);
    const { jobId } = (await book.add(newJob)).job;
    await book.claims.requeue((await begin(jobId)).claim, { counted: true });
    await begin(jobId);
    await restart(storage);
    t.match((await book.recover()).requeued, [{ jobId, attempts: 1, interruptions: 1 }]);
    const { job, claim } = await begin(jobId);
    t.equal(job.attempts, 2);
    t.equal(await book.claims.requeue(claim, { counted: true }), undefined, 'there is no third attempt');
  });

  t.test('looks for artifacts of interrupted attempts when the job ends', async (t) => {
    const { book, storage, begin } = await openDistant(t, 100);
    const { jobId } = (await book.add(newJob)).job;
    await begin(jobId);
    await restart(storage);
    await book.recover();
    const { claim } = await begin(jobId);
    const key = (token: number, name: string) => `${jobId}-${token}/${name}`;
    const artifacts = [{ name: 'video.mp4', assetKey: key(claim.token, 'video.mp4'), sizeBytes: 1 } as const];
    const outcome = { kind: 'completed', artifacts, costCredits: 1 } as const;
    const { orphans = [] } = (await book.finish(claim, outcome, { durationMs: 1 })) ?? {};
    t.ok(orphans.includes(key(1, 'video.mp4')));
    t.ok(orphans.includes(key(claim.token, 'captions.vtt')));
    t.notOk(orphans.includes(key(claim.token, 'video.mp4')));
  });

  t.test('does not count an attempt that a shutdown ended', async (t) => {
    const { book, begin } = await openStored(t);
    const { jobId } = (await book.add(newJob)).job;
    for (let i = 0; i < 5; i++) {
      const { claim } = await begin(jobId);
      t.match(await book.claims.requeue(claim), { phase: 'queued', attempts: 0 });
    }
  });
});

t.test('recovery in a shared storage', async (t) => {
  /** Opens a job whose reserve is answered, or rejected, by the returned functions. */
  async function openSlowly(t: Test) {
    const opened = await openDistant(t);
    const { book, ledger, storage } = opened;
    Object.assign(storage, { isShared: true });
    const reserve = ledger.reserve.bind(ledger);
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    ledger.reserve = async (request) => {
      const reserved = await reserve(request);
      asked.resolve();
      await answer.promise;
      return reserved;
    };
    const opening = book.add(newJob);
    opening.catch(() => {});
    await asked.promise;
    t.match(await storage.unfinishedJobs(), [{ phase: 'reserving' }]);
    return { ...opened, opening, answer };
  }

  t.test('leaves a job to the process that is reserving it', async (t) => {
    const { book, ledger, storage, opening, answer } = await openSlowly(t);
    t.same(await book.recover(), { requeued: [], orphans: [], stuck: [] });
    await book.resumeAbandoned();
    clock.advance(MOST_RESERVING_MS - 1);
    t.match(await book.resumeAbandoned(), { withdrawn: 0 });
    answer.resolve();
    const { jobId } = (await opening).job;
    t.match(await storage.getJob(jobId), { phase: 'queued' });
    t.equal(ledger.balanceCredits, 95);
    clock.advance(1);
    t.match(await book.resumeAbandoned(), { withdrawn: 0 }, 'the job is queued');
    t.equal(ledger.balanceCredits, 95);
  });

  t.test('rolls it back when that process must be dead', async (t) => {
    const { book, ledger, storage } = await openSlowly(t);
    await book.resumeAbandoned();
    clock.advance(MOST_RESERVING_MS);
    await book.recover();
    t.match(await storage.unfinishedJobs(), [{ phase: 'reserving' }], 'a process that starts cannot know');
    t.match(await book.resumeAbandoned(), { withdrawn: 1, errors: [] });
    t.same(await storage.unfinishedJobs(), []);
    t.equal(ledger.balanceCredits, 100);
  });

  t.test('refuses a request whose job was rolled back meanwhile', async (t) => {
    const { book, ledger, storage, opening, answer } = await openSlowly(t);
    await book.resumeAbandoned();
    clock.advance(MOST_RESERVING_MS);
    await book.resumeAbandoned();
    answer.resolve();
    await t.rejects(opening, { code: 'storage_failed', message: /Nothing was changed; try again/ });
    t.same(await storage.unfinishedJobs(), []);
    t.equal(ledger.balanceCredits, 100);
  });

  t.test('settles a job that another process left settling, once it had time to', async (t) => {
    const { book, ledger, storage, begin } = await openDistant(t);
    Object.assign(storage, { isShared: true });
    const { jobId } = (await book.add(newJob)).job;
    const { claim } = await begin(jobId);
    ledger.fault = 'before';
    await t.rejects(book.finish(claim, completed(2), { durationMs: 7 }), { message: /billing system/ });
    t.match(await storage.getJob(jobId), { phase: 'settling' });
    t.same(await book.resumeAbandoned(), { withdrawn: 0, ended: [], errors: [] });
    ledger.fault = 'after';
    t.match(await book.resumeAbandoned(), { ended: [], errors: [{ message: /billing system/ }] });
    t.match(await book.resumeAbandoned(), {
      ended: [{ job: { jobId, phase: 'completed', creditsCost: 2, durationMs: 7 } }],
      errors: [],
    });
    t.equal(ledger.balanceCredits, 98);
    t.same(await book.resumeAbandoned(), { withdrawn: 0, ended: [], errors: [] });
  });

  for (const time of ['2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z']) {
    t.test(`leaves a job to a process whose clock differs: here it is ${time}`, async (t) => {
      const { book, opening, answer } = await openSlowly(t);
      const nowMs = clock.now();
      clock.set(time);
      for (let looks = 0; looks < 2; looks++) t.match(await book.resumeAbandoned(), { withdrawn: 0 });
      clock.set(new Date(nowMs).toISOString());
      answer.resolve();
      t.match(await opening, { job: { phase: 'queued' } });
    });
  }

  t.test('tries all jobs although the ledger does not answer for one', async (t) => {
    const { book, ledger, storage } = await openDistant(t);
    Object.assign(storage, { isShared: true });
    ledger.faults = () => 'before';
    for (let count = 0; count < 2; count++) await t.rejects(book.add(newJob));
    await book.resumeAbandoned();
    clock.advance(MOST_RESERVING_MS);
    let calls = 0;
    ledger.faults = () => (++calls === 1 ? 'before' : undefined);
    t.match(await book.resumeAbandoned(), { withdrawn: 1, errors: [{ message: /billing system/ }] });
    t.match((await storage.unfinishedJobs()).length, 1);
    t.match(await book.resumeAbandoned(), { withdrawn: 1, errors: [] });
  });

  t.test('reports a ledger that does not answer, and tries again', async (t) => {
    const { book, ledger, storage } = await openSlowly(t);
    await book.resumeAbandoned();
    clock.advance(MOST_RESERVING_MS);
    ledger.fault = 'before';
    t.match(await book.resumeAbandoned(), { withdrawn: 0, errors: [{ message: /billing system/ }] });
    t.match(await storage.unfinishedJobs(), [{ phase: 'reserving' }]);
    t.match(await book.resumeAbandoned(), { withdrawn: 1, errors: [] });
    t.same(await storage.unfinishedJobs(), []);
    t.equal(ledger.balanceCredits, 100);
  });
});
