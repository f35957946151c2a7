import t from 'tap';
import { type BudgetOptions, DEFAULT_BUDGETS, FailureBudgets } from '../../../lib/jobs/failure-budgets.ts';
import type { JobRecord } from '../../../lib/jobs/job.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const HOUR_MS = 3_600_000;

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

t.test('a canceled job counts a second at least, also if it never began', (t) => {
  const { over, isSpent } = budgetsOf({ unpaidSecondsPerHour: 3 });
  for (const durationMs of [0, null, 1000]) {
    t.notOk(isSpent());
    over({ failedBy: 'cancel', durationMs });
  }
  t.ok(isSpent());
  const failing = budgetsOf({ unpaidSecondsPerHour: 1 });
  failing.over({ durationMs: 10 });
  t.notOk(failing.isSpent(), 'failures are counted by their number');
  t.end();
});

t.test('whatever a scene fails by counts as a failure', async (t) => {
  for (const failedBy of ['scene', 'tex', 'limit:time', 'limit:output'] as const) {
    const { over, isSpent } = budgetsOf({});
    for (let i = 0; i < 3; i++) over({ failedBy });
    t.ok(isSpent(), failedBy);
  }
});

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
  over({ failedBy: 'credits', durationMs: 1 });
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

t.test('a failure of unknown length counts as one', (t) => {
  const { budgets, over, isSpent } = budgetsOf({ failuresPerHour: 1, unpaidSecondsPerHour: 1 });
  over({ failedBy: 'credits', durationMs: null });
  t.notOk(isSpent());
  over({ durationMs: null });
  t.ok(isSpent());
  budgets.clear();
  t.notOk(isSpent());
  t.end();
});

t.test('a failure counts from the time it happened', (t) => {
  const { clock, over, isSpent } = budgetsOf({ failuresPerHour: 1 });
  over({ completedAtMs: clock.now() - 50 * 60_000 });
  t.ok(isSpent());
  clock.advance(10 * 60_000);
  t.notOk(isSpent());
  t.end();
});

t.test('the defaults are 300 failures and an hour', (t) => {
  const { budgets, over } = budgetsOf(DEFAULT_BUDGETS);
  for (let count = 0; count < 299; count++) over({ durationMs: 0 });
  over({ durationMs: HOUR_MS - 1, failedBy: 'cancel' });
  budgets.assertWithin('a');
  over({ durationMs: 1, failedBy: 'cancel' });
  t.throws(() => budgets.assertWithin('a'), { message: /took 3600 seconds/ });
  over({ durationMs: 0 });
  t.throws(() => budgets.assertWithin('a'), { message: /failed 300 times/ });
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
