import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import t, { type Test } from 'tap';
import { systemRandom } from '../../../../lib/base/random.ts';
import { ScenepressError } from '../../../../lib/index.ts';
import { Acceptance } from '../../../../lib/jobs/accept/acceptance.ts';
import { Admission, StuckError } from '../../../../lib/jobs/accept/admission.ts';
import type { NewJob } from '../../../../lib/jobs/accept/new-job.ts';
import type { StoredBytes } from '../../../../lib/jobs/accept/stored-bytes.ts';
import type { Fairness } from '../../../../lib/jobs/fairness/fairness.ts';
import type { Gate } from '../../../../lib/jobs/run/gate.ts';
import { Pricing } from '../../../../lib/ledger/pricing.ts';
import type { JobEvents } from '../../../../lib/model/job-events.ts';
import { clock, newJob, openDistant } from '../../../fixtures/books.ts';
import { until } from '../../../fixtures/until.ts';

async function setUp(t: Test) {
  const opened = await openDistant(t);
  const { storage, ledger } = opened;
  const refused = new Set<string>();
  const failing = new Set<string>();
  const fail = (code: 'storage_full' | 'too_many_failures' | 'too_many_requests') => {
    if (failing.has(code)) throw new ScenepressError(code, 'It fails.');
  };
  const gate = { assertDiskNotFull: () => fail('storage_full') } as unknown as Gate;
  const fairness = {
    assertWithinBudget: () => fail('too_many_failures'),
    assertWithinRate: () => fail('too_many_requests'),
  } as unknown as Fairness;
  const resumed: string[] = [];
  const events: JobEvents = new EventEmitter();
  const changes: string[] = [];
  events.on('change', ({ jobId, phase }) => changes.push(`${jobId} ${phase}`));
  const admitsOwner = async (owner: string) => !refused.has(owner);
  const added: number[] = [];
  const storedBytes = {
    problemOf: async () =>
      failing.has('too_much_stored') ? new ScenepressError('too_much_stored', '') : undefined,
    added: (_: unknown, code: string) => void added.push(code.length),
  } as unknown as StoredBytes;
  const onStuck = (jobId: string) => void resumed.push(jobId);
  const admission = new Admission({ storage, ledger, pricing: new Pricing(), clock, random: systemRandom });
  const acceptance = new Acceptance({
    ...{ admission, admitsOwner, fairness, storedBytes, gate, events, clock, onStuck },
  });
  const accept = async (request: NewJob) => {
    const [job] = await acceptance.acceptAll([request]);
    assert(job);
    return job;
  };
  const listed = async () => (await storage.listJobs({})).map(({ jobId }) => jobId);
  return { ...opened, accept, acceptance, refused, failing, resumed, changes, added, listed };
}

t.test('a job that is accepted is reported once, also if the request is repeated', async (t) => {
  const { accept, changes, added, listed } = await setUp(t);
  const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
  const { jobId } = await accept(request);
  t.same(changes, [`${jobId} queued`]);
  t.equal((await accept(request)).jobId, jobId);
  t.same(added, [newJob.request.code.length], 'its size counts once');
  t.same(changes, [`${jobId} queued`]);
  t.same(await listed(), [jobId]);
});

t.test('jobs of refused owners, over the budget or while the disk is full are rejected', async (t) => {
  const { accept, ledger, refused, failing, changes, listed, resumed } = await setUp(t);
  refused.add('a');
  await t.rejects(accept(newJob), { code: 'owner_refused' });
  await accept({ ...newJob, owner: 'b' });
  refused.clear();
  for (const code of ['storage_full', 'too_many_failures', 'too_much_stored', 'too_many_requests']) {
    failing.add(code);
    await t.rejects(accept(newJob), { code });
    failing.clear();
  }
  t.equal(changes.length, 1);
  t.equal((await listed()).length, 1);
  t.equal(ledger.balanceCredits, 95);
  t.same(resumed, []);
});

t.test('a request that could be neither added nor rolled back is resumed', async (t) => {
  const { accept, storage, ledger, resumed, changes } = await setUp(t);
  ledger.faults = () => 'before';
  await t.rejects(accept(newJob), { message: /billing system does not answer/ });
  t.match(await storage.unfinishedJobs(), [{ phase: 'reserving', jobId: resumed[0] }]);
  t.same(changes, []);
});

t.test('several jobs are accepted together, and each is reported', async (t) => {
  const { acceptance, changes, added, failing } = await setUp(t);
  const jobs = await acceptance.acceptAll([newJob, newJob]);
  t.same(
    changes,
    jobs.map(({ jobId }) => `${jobId} queued`),
  );
  t.equal(added.length, 2);
  failing.add('too_many_requests');
  await t.rejects(acceptance.acceptAll([newJob, newJob]), { code: 'too_many_requests' });
  t.equal(changes.length, 2);
});

t.test('of several jobs that could be neither added nor rolled back, all are resumed', async (t) => {
  const { acceptance, storage, ledger, resumed, changes } = await setUp(t);
  ledger.faults = () => 'before';
  await t.rejects(acceptance.acceptAll([newJob, newJob]), { message: /billing system does not answer/ });
  const left = await storage.unfinishedJobs();
  t.same(left.map(({ jobId }) => jobId).sort(), resumed.sort());
  t.equal(left.length, 2);
  t.same(changes, []);
});

t.test('settled() waits for requests in progress, whether they are accepted or not', async (t) => {
  const { accept, acceptance, ledger } = await setUp(t);
  await acceptance.settled();
  const reserve = ledger.reserve.bind(ledger);
  const answers: (() => void)[] = [];
  ledger.reserve = async (request) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    answers.push(resolve);
    await promise;
    if (answers.length > 1) throw new Error('it fails');
    return reserve(request);
  };
  for (const number of [1, 2]) {
    const taken = accept(newJob).catch((error: Error) => error.message);
    let isSettled = false;
    const settled = acceptance.settled().then(() => {
      isSettled = true;
    });
    await until(() => answers.length === number);
    t.notOk(isSettled);
    answers.at(-1)?.();
    await settled;
    t.match(
      await Promise.race([taken, 'still in progress']),
      number === 1 ? { phase: 'queued' } : 'it fails',
    );
  }
});

t.test('the error of a job that is stuck names the job and the cause', (t) => {
  const cause = new Error('the disk failed');
  const error = new StuckError(['1'], cause);
  t.match(error, { jobIds: ['1'], cause, message: /neither added nor rolled back/ });
  t.end();
});
