import { EventEmitter } from 'node:events';
import t, { type Test } from 'tap';
import type { Gate } from '../../../lib/gate.ts';
import { ScenepressError } from '../../../lib/index.ts';
import type { Cancellations } from '../../../lib/jobs/cancellations.ts';
import { Intake } from '../../../lib/jobs/intake.ts';
import type { JobEvents } from '../../../lib/jobs/job-events.ts';
import type { Owners } from '../../../lib/jobs/owners.ts';
import type { StoredBytes } from '../../../lib/jobs/stored-bytes.ts';
import { newJob, openDistant } from '../../fixtures/books.ts';
import { until } from '../../fixtures/until.ts';

async function setUp(t: Test) {
  const opened = await openDistant(t);
  const { book, storage } = opened;
  const refused = new Set<string>();
  const failing = new Set<string>();
  const fail = (code: 'storage_full' | 'too_many_failures' | 'too_many_requests') => {
    if (failing.has(code)) throw new ScenepressError(code, 'It fails.');
  };
  const gate = { assertDiskNotFull: () => fail('storage_full') } as unknown as Gate;
  const owners = {
    assertWithinBudget: () => fail('too_many_failures'),
    assertWithinRate: () => fail('too_many_requests'),
  } as unknown as Owners;
  const resumed: string[] = [];
  const cancellations = {
    complete: async (jobId: string) => void resumed.push(jobId),
  } as unknown as Cancellations;
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
  const intake = new Intake({ book, admitsOwner, owners, storedBytes, gate, cancellations, events });
  const listed = async () => (await storage.listJobs({})).map(({ jobId }) => jobId);
  return { ...opened, intake, refused, failing, resumed, changes, added, listed };
}

t.test('a job that is accepted is reported once, also if the request is repeated', async (t) => {
  const { intake, changes, added, listed } = await setUp(t);
  const request = { ...newJob, idempotency: { key: 'k', fingerprint: 'f' } };
  const { jobId } = await intake.take(request);
  t.same(changes, [`${jobId} queued`]);
  t.equal((await intake.take(request)).jobId, jobId);
  t.same(added, [newJob.request.code.length], 'its size counts once');
  t.same(changes, [`${jobId} queued`]);
  t.same(await listed(), [jobId]);
});

t.test('jobs of refused owners, over the budget or while the disk is full are rejected', async (t) => {
  const { intake, ledger, refused, failing, changes, listed, resumed } = await setUp(t);
  refused.add('a');
  await t.rejects(intake.take(newJob), { code: 'owner_refused' });
  await intake.take({ ...newJob, owner: 'b' });
  refused.clear();
  for (const code of ['storage_full', 'too_many_failures', 'too_much_stored', 'too_many_requests']) {
    failing.add(code);
    await t.rejects(intake.take(newJob), { code });
    failing.clear();
  }
  t.equal(changes.length, 1);
  t.equal((await listed()).length, 1);
  t.equal(ledger.balanceCredits, 95);
  t.same(resumed, []);
});

t.test('a request that could be neither added nor rolled back is resumed', async (t) => {
  const { intake, storage, ledger, resumed, changes } = await setUp(t);
  ledger.faults = () => 'before';
  await t.rejects(intake.take(newJob), { message: /billing system does not answer/ });
  t.match(await storage.unfinishedJobs(), [{ phase: 'reserving', jobId: resumed[0] }]);
  t.same(changes, []);
});

t.test('settled() waits for requests in progress, whether they are accepted or not', async (t) => {
  const { intake, ledger } = await setUp(t);
  await intake.settled();
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
    const taken = intake.take(newJob).catch((error: Error) => error.message);
    let isSettled = false;
    const settled = intake.settled().then(() => {
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
