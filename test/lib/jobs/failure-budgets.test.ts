import { join } from 'node:path';
import t, { type Test } from 'tap';
import { DataFolder, type Job, type JobRecord, RenderService, StoredLedger } from '../../../lib/index.ts';
import { type BudgetOptions, FailureBudgets } from '../../../lib/jobs/failure-budgets.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const HOUR_MS = 3_600_000;
const python = join(import.meta.dirname, '../../fixtures/instant-renderer/bin/python');

function budgetsOf(limits: Partial<BudgetOptions>) {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const budgets = new FailureBudgets({
    limits: { failuresPerHour: 3, unpaidSecondsPerHour: 100, ...limits },
    clock,
  });
  const over = (change: Partial<JobRecord>) =>
    budgets.note(
      jobRecord('1', {
        phase: 'failed',
        completedAtMs: clock.now(),
        durationMs: 1000,
        failedBy: 'scene',
        ...change,
      }),
    );
  const isSpent = (owner = 'a') => budgets.isSpent(owner);
  return { clock, budgets, over, isSpent };
}

t.test(
  'requests are rejected after too many failures within an hour, until the first is an hour old',
  (t) => {
    const { clock, budgets, over, isSpent } = budgetsOf({});
    over({});
    clock.advance(10 * 60_000);
    for (let i = 0; i < 2; i++) {
      budgets.assertWithin('a');
      over({});
    }
    t.throws(() => budgets.assertWithin('a'), {
      code: 'too_many_failures',
      message: /failed 3 times within an hour.*Try again in 50 minutes/,
      retryAfterMs: 50 * 60_000,
    });
    t.ok(isSpent());
    budgets.assertWithin('another');
    clock.advance(50 * 60_000);
    budgets.assertWithin('a');
    over({});
    t.throws(() => budgets.assertWithin('a'), { code: 'too_many_failures', retryAfterMs: 10 * 60_000 });
    t.end();
  },
);

t.test('requests are rejected after too many unpaid seconds within an hour', (t) => {
  const { clock, budgets, over } = budgetsOf({});
  over({ durationMs: 60_000, failedBy: 'cancel' });
  over({ durationMs: 39_999, failedBy: 'credits' });
  budgets.assertWithin('a');
  over({ durationMs: 1, failedBy: 'scene' });
  t.throws(() => budgets.assertWithin('a'), {
    code: 'too_many_failures',
    message: /took 100 seconds within an hour.*Try again in 60 minutes/,
    retryAfterMs: HOUR_MS,
  });
  clock.advance(HOUR_MS);
  budgets.assertWithin('a');
  t.end();
});

for (const [what, change] of [
  ['a failure of the renderer', { failedBy: 'service', durationMs: HOUR_MS }],
  ['a job of an earlier version', { failedBy: undefined, durationMs: HOUR_MS }],
  ['a completed job', { phase: 'completed', failedBy: undefined, durationMs: HOUR_MS }],
  ['a job canceled while queued', { failedBy: 'cancel', durationMs: 0 }],
] as [string, { [Key in keyof JobRecord]?: JobRecord[Key] | undefined }][]) {
  t.test(`${what} is not counted`, (t) => {
    const { over, isSpent } = budgetsOf({});
    for (let i = 0; i < 10; i++) over(change as Partial<JobRecord>);
    t.notOk(isSpent());
    t.end();
  });
}

t.test('0 and infinity disable a limit', (t) => {
  for (const none of [0, Number.POSITIVE_INFINITY]) {
    const { over, isSpent } = budgetsOf({ failuresPerHour: none, unpaidSecondsPerHour: none });
    for (let i = 0; i < 10; i++) over({ durationMs: HOUR_MS });
    t.notOk(isSpent());
  }
  const seconds = budgetsOf({ failuresPerHour: 0 });
  seconds.over({ durationMs: 100_000 });
  t.ok(seconds.isSpent(), 'the other limit still applies');
  t.end();
});

t.test('the limit that takes longer to wait for is named, with the minutes', (t) => {
  const { clock, budgets, over } = budgetsOf({ failuresPerHour: 1, unpaidSecondsPerHour: 1 });
  over({ durationMs: 999 });
  clock.advance(10 * 60_000);
  over({ failedBy: 'cancel', durationMs: 1 });
  const message = (start: string, end: string) => new RegExp(`^${start}.*Try again in ${end}\\.$`);
  t.throws(() => budgets.assertWithin('a'), { message: message('The scenes of this account', '50 minutes') });
  over({ failedBy: 'cancel', durationMs: 1000 });
  t.throws(() => budgets.assertWithin('a'), { message: message('Renders of this account', '60 minutes') });
  clock.advance(59 * 60_000);
  t.throws(() => budgets.assertWithin('a'), { message: message('Renders', '1 minute') });
  clock.advance(60_000 - 1);
  t.throws(() => budgets.assertWithin('a'), { retryAfterMs: 1, message: message('Renders', '1 minute') });
  clock.advance(1);
  budgets.assertWithin('a');
  t.end();
});

t.test('a failure of unknown length counts as one, a cancellation without a render does not', (t) => {
  const { budgets, over, isSpent } = budgetsOf({ failuresPerHour: 1, unpaidSecondsPerHour: 1 });
  over({ failedBy: 'cancel', durationMs: null });
  over({ completedAtMs: null });
  t.notOk(isSpent());
  over({ durationMs: null });
  t.ok(isSpent());
  budgets.clear();
  t.notOk(isSpent());
  over({ failedBy: 'cancel', durationMs: 999 });
  t.notOk(isSpent());
  over({ failedBy: 'cancel', durationMs: 1 });
  t.ok(isSpent());
  t.end();
});

t.test('removing owners of long ago leaves those of the last hour', (t) => {
  const { clock, over, isSpent } = budgetsOf({ failuresPerHour: 1, unpaidSecondsPerHour: 1 });
  over({ owner: 'fails', durationMs: 0 });
  over({ owner: 'cancels', failedBy: 'cancel', durationMs: 1000 });
  for (let quarters = 0; quarters < 3; quarters++) {
    clock.advance(HOUR_MS / 4);
    over({});
    t.ok(isSpent('fails'));
    t.ok(isSpent('cancels'));
  }
  t.end();
});

/** A service whose renders take no time. */
async function startedService(t: Test, folder: string, budgets: Partial<BudgetOptions>, clock: FakeClock) {
  const dataFolder = new DataFolder(folder);
  const ledger = new StoredLedger({ store: dataFolder.ledgerStore, clock });
  const service = new RenderService({
    dataFolder,
    ledger,
    workers: 1,
    budgets,
    clock,
    renderer: { python, insecureNoSandbox: true },
  });
  t.teardown(() => service.stop());
  await service.start();
  const enqueue = (owner: string, code: string, more: object = {}) =>
    service.enqueue({ owner, code, className: 'A', ...more });
  const render = async (owner: string, code: string): Promise<Job> =>
    service.wait((await enqueue(owner, code)).jobId);
  return { service, ledger, enqueue, render };
}

t.test('an owner with too many failures is rejected, also after a restart, and not charged', async (t) => {
  const folder = join(t.testdir(), 'data');
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const first = await startedService(t, folder, { failuresPerHour: 2 }, clock);
  const idempotency = { key: 'k' };
  const { jobId } = await first.enqueue('ada', 'fail', { idempotency });
  t.match(await first.service.wait(jobId), { status: 'failed', error: 'as it was told' });
  t.match(await first.render('ada', 'x'), { status: 'completed' });
  const { total } = await first.ledger.balance('ada');
  await first.render('ada', 'fail');
  await t.rejects(first.enqueue('ada', 'x'), { code: 'too_many_failures', retryAfterMs: HOUR_MS });
  t.equal((await first.ledger.balance('ada')).total, total, 'neither failed nor rejected jobs cost credits');
  await t.rejects(first.service.renderAgain(jobId), { code: 'too_many_failures' });
  t.match(await first.enqueue('ada', 'fail', { idempotency }), { jobId }, 'a repeated request succeeds');
  await t.rejects(first.enqueue('ada', ''), { code: 'invalid_request' });
  t.match(await first.render('bob', 'x'), { status: 'completed' });
  await first.service.stop();

  const second = await startedService(t, folder, { failuresPerHour: 2 }, clock);
  await t.rejects(second.enqueue('ada', 'x'), { code: 'too_many_failures', retryAfterMs: HOUR_MS });
  clock.advance(HOUR_MS);
  t.match(await second.render('ada', 'x'), { status: 'completed' });
});

t.test('queued jobs of an owner with a spent budget are rendered after those of others', async (t) => {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const { service, enqueue } = await startedService(
    t,
    join(t.testdir(), 'data'),
    { failuresPerHour: 1 },
    clock,
  );
  await service.pauseQueue();
  const order: string[] = [];
  service.on('job', ({ owner, status }) => status === 'running' && order.push(owner));
  const jobs = [];
  for (let i = 0; i < 3; i++) jobs.push(await enqueue('spent', 'fail'));
  for (let i = 0; i < 3; i++) jobs.push(await enqueue('ada', 'x'));
  await service.resumeQueue();
  for (const { jobId } of jobs) await service.wait(jobId);
  t.same(order, ['spent', 'ada', 'ada', 'ada', 'spent', 'spent']);
});
