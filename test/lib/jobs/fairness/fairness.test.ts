import t, { type Test } from 'tap';
import { systemRandom } from '../../../../lib/base/random.ts';
import { DataFolder } from '../../../../lib/index.ts';
import { type BudgetOptions, DEFAULT_BUDGETS, Fairness } from '../../../../lib/jobs/fairness/fairness.ts';
import { SortableIds } from '../../../../lib/model/ids.ts';
import type { JobRecord } from '../../../../lib/model/job.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { jobRecord } from '../../../fixtures/job-record.ts';
import { temporaryFolder } from '../../../fixtures/temporary-folder.ts';

const HOUR_MS = 3_600_000;
const WITHOUT_JOBS = { recentEnds: async () => [] };

async function openFairness(t: Test, { jobsPerSecond = 0 } = {}) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const ids = new SortableIds(clock, systemRandom);
  const budgets = { failuresPerHour: 1, unpaidSecondsPerHour: 0, checkSecondsPerHour: 0, jobsPerSecond };
  const fairness = new Fairness({ storage, clock, budgets });
  /** Stores a job that ends now. */
  const end = (owner: string, phase: 'completed' | 'failed') =>
    storage.transaction((tx) => {
      const ended = { durationMs: 1000, completedAtMs: clock.now(), createdAtMs: clock.now() };
      const failure = phase === 'failed' ? { failedBy: 'scene' as const } : {};
      return storage.insertJob(tx, jobRecord(ids.next(), { owner, phase, ...ended, ...failure }), '');
    });
  return { fairness, clock, end };
}

t.test(
  'owners who spent a budget yield, and those with completed renders are in good standing',
  async (t) => {
    const { fairness, clock } = await openFairness(t);
    const ended = { durationMs: 1000, completedAtMs: clock.now() };
    t.same(fairness.precedenceOf('ada'), { yields: false, inGoodStanding: false });
    fairness.note(jobRecord('1', { owner: 'ada', phase: 'completed', ...ended }));
    t.same(fairness.precedenceOf('ada'), { yields: false, inGoodStanding: true });
    fairness.note(jobRecord('2', { owner: 'eve', phase: 'failed', failedBy: 'scene', ...ended }));
    t.same(fairness.precedenceOf('eve'), { yields: true, inGoodStanding: false });
    fairness.assertWithinBudget('ada');
    t.throws(() => fairness.assertWithinBudget('eve'), { code: 'too_many_failures' });
  },
);

t.test('an owner adds ten seconds’ worth of jobs at once, then so many a second', async (t) => {
  const { fairness, clock } = await openFairness(t, { jobsPerSecond: 2 });
  for (let added = 0; added < 20; added++) fairness.assertWithinRate('eve');
  t.throws(() => fairness.assertWithinRate('eve'), {
    code: 'too_many_requests',
    message: /Try again in 1 s/,
    retryAfterMs: 500,
  });
  fairness.assertWithinRate('ada');
  clock.advance(500);
  fairness.assertWithinRate('eve');
  t.throws(() => fairness.assertWithinRate('eve'), { code: 'too_many_requests' });
  const unlimited = (await openFairness(t)).fairness;
  for (let added = 0; added < 1000; added++) unlimited.assertWithinRate('eve');
});

t.test('a batch is added whole or not, and counts only if it is', async (t) => {
  const { fairness, clock } = await openFairness(t, { jobsPerSecond: 2 });
  fairness.assertWithinRate('eve', 15);
  t.throws(() => fairness.assertWithinRate('eve', 6), { code: 'too_many_requests', retryAfterMs: 500 });
  fairness.assertWithinRate('eve', 5);
  // A batch larger than what may be added at once is added after a pause, and delays the next.
  t.throws(() => fairness.assertWithinRate('eve', 30), { code: 'too_many_requests', retryAfterMs: 10_000 });
  clock.advance(10_000);
  fairness.assertWithinRate('eve', 30);
  t.throws(() => fairness.assertWithinRate('eve'), { code: 'too_many_requests', retryAfterMs: 5_500 });
});

t.test('a start counts the jobs of the last 24 hours again, once', async (t) => {
  const { fairness, clock, end } = await openFairness(t);
  await end('old', 'completed');
  clock.advance(HOUR_MS);
  await end('ada', 'completed');
  clock.advance(23 * HOUR_MS - HOUR_MS / 2);
  await end('eve', 'failed');
  clock.advance(HOUR_MS / 2);
  for (let starts = 0; starts < 2; starts++) {
    await fairness.restore();
    t.equal(fairness.precedenceOf('old').inGoodStanding, false);
    t.equal(fairness.precedenceOf('ada').inGoodStanding, true);
    t.equal(fairness.precedenceOf('eve').yields, true);
  }
});

t.test('what was counted before a start is counted no more', async (t) => {
  const { fairness, clock } = await openFairness(t);
  const ended = { durationMs: 1000, completedAtMs: clock.now() };
  fairness.note(jobRecord('1', { owner: 'ada', phase: 'completed', ...ended }));
  fairness.note(jobRecord('2', { owner: 'eve', phase: 'failed', failedBy: 'scene', ...ended }));
  await fairness.restore();
  t.equal(fairness.precedenceOf('ada').inGoodStanding, false);
  t.equal(fairness.precedenceOf('eve').yields, false);
});

function budgetsOf(limits: Partial<BudgetOptions>) {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const budgets = new Fairness({
    storage: WITHOUT_JOBS,
    budgets: { ...DEFAULT_BUDGETS, failuresPerHour: 3, unpaidSecondsPerHour: 100, ...limits },
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
  const isSpent = (owner = 'a') => budgets.precedenceOf(owner).yields;
  return { clock, budgets, over, isSpent };
}

t.test(
  'requests are rejected after too many failures within an hour, until the first is an hour old',
  (t) => {
    const { clock, budgets, over, isSpent } = budgetsOf({});
    over({});
    clock.advance(10 * 60_000);
    for (let i = 0; i < 2; i++) {
      budgets.assertWithinBudget('a');
      over({});
    }
    t.throws(() => budgets.assertWithinBudget('a'), {
      code: 'too_many_failures',
      message: /failed 3 times within an hour.*Try again in 50 minutes/,
      retryAfterMs: 50 * 60_000,
    });
    t.ok(isSpent());
    budgets.assertWithinBudget('another');
    clock.advance(50 * 60_000);
    budgets.assertWithinBudget('a');
    over({});
    t.throws(() => budgets.assertWithinBudget('a'), { code: 'too_many_failures', retryAfterMs: 10 * 60_000 });
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
  budgets.assertWithinBudget('a');
  over({ durationMs: 1, failedBy: 'scene' });
  t.throws(() => budgets.assertWithinBudget('a'), {
    code: 'too_many_failures',
    message: /took 100 seconds within an hour.*Try again in 60 minutes/,
    retryAfterMs: HOUR_MS,
  });
  clock.advance(HOUR_MS);
  budgets.assertWithinBudget('a');
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
  t.throws(() => budgets.assertWithinBudget('a'), {
    message: message('The scenes of this account', '50 minutes'),
  });
  over({ failedBy: 'cancel', durationMs: 1000 });
  t.throws(() => budgets.assertWithinBudget('a'), {
    message: message('Renders of this account', '60 minutes'),
  });
  clock.advance(59 * 60_000);
  t.throws(() => budgets.assertWithinBudget('a'), { message: message('Renders', '1 minute') });
  clock.advance(60_000 - 1);
  t.throws(() => budgets.assertWithinBudget('a'), {
    retryAfterMs: 1,
    message: message('Renders', '1 minute'),
  });
  clock.advance(1);
  budgets.assertWithinBudget('a');
  t.end();
});

t.test('a failure of unknown length counts as one', async (t) => {
  const { budgets, over, isSpent } = budgetsOf({ failuresPerHour: 1, unpaidSecondsPerHour: 1 });
  over({ failedBy: 'credits', durationMs: null });
  t.notOk(isSpent());
  over({ durationMs: null });
  t.ok(isSpent());
  await budgets.restore();
  t.notOk(isSpent());
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
  budgets.assertWithinBudget('a');
  over({ durationMs: 1, failedBy: 'cancel' });
  t.throws(() => budgets.assertWithinBudget('a'), { message: /took 3600 seconds/ });
  over({ durationMs: 0 });
  t.throws(() => budgets.assertWithinBudget('a'), { message: /failed 300 times/ });
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

function standingOf() {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const standing = new Fairness({ storage: WITHOUT_JOBS, clock, budgets: DEFAULT_BUDGETS });
  const over = (change: Partial<JobRecord>) =>
    standing.note(jobRecord('1', { owner: 'a', completedAtMs: clock.now(), ...change }));
  const completed = (durationMs: number, owner = 'a') => over({ owner, phase: 'completed', durationMs });
  const failed = (durationMs: number, failedBy: NonNullable<JobRecord['failedBy']> = 'scene') =>
    over({ phase: 'failed', failedBy, durationMs });
  return { clock, standing, over, completed, failed };
}

t.test('an owner is in good standing if completed render time is at least failed render time', (t) => {
  const { standing, completed, failed } = standingOf();
  t.notOk(standing.precedenceOf('a').inGoodStanding, 'an unknown owner is not');
  failed(1_000);
  t.notOk(standing.precedenceOf('a').inGoodStanding);
  completed(999);
  t.notOk(standing.precedenceOf('a').inGoodStanding, 'one millisecond less completed');
  completed(1);
  t.ok(standing.precedenceOf('a').inGoodStanding, 'equal times');
  failed(1);
  t.notOk(standing.precedenceOf('a').inGoodStanding, 'one millisecond more failed');
  t.notOk(standing.precedenceOf('b').inGoodStanding, 'owners are independent');
  t.end();
});

t.test('cancellations count as failures, failures of the service do not count', (t) => {
  const { standing, completed, failed } = standingOf();
  completed(1_000);
  failed(60_000, 'service');
  t.ok(standing.precedenceOf('a').inGoodStanding);
  failed(1_001, 'cancel');
  t.notOk(standing.precedenceOf('a').inGoodStanding);
  t.end();
});

t.test('a completed render of zero duration counts', (t) => {
  const { standing, completed } = standingOf();
  completed(0);
  t.ok(standing.precedenceOf('a').inGoodStanding);
  t.end();
});

t.test('renders count for a day', (t) => {
  const { clock, standing, completed, failed } = standingOf();
  failed(5_000);
  clock.advance(12 * HOUR_MS);
  completed(1_000);
  t.notOk(standing.precedenceOf('a').inGoodStanding);
  clock.advance(12 * HOUR_MS);
  t.ok(standing.precedenceOf('a').inGoodStanding, 'the failure has expired');
  clock.advance(12 * HOUR_MS);
  t.notOk(standing.precedenceOf('a').inGoodStanding, 'the completed render has expired, too');
  t.end();
});

t.test('only jobs that ended count', async (t) => {
  const { standing, over } = standingOf();
  const completed = { phase: 'completed', durationMs: 1000 } as const;
  over({ ...completed, completedAtMs: null });
  over({ ...completed, durationMs: null });
  over({ phase: 'running', durationMs: 1000 });
  t.notOk(standing.precedenceOf('a').inGoodStanding);
  over(completed);
  t.ok(standing.precedenceOf('a').inGoodStanding);
  over({ phase: 'running', durationMs: 5000, failedBy: 'scene' });
  over({ phase: 'failed', durationMs: 5000 });
  over({ phase: 'completed', durationMs: 1, failedBy: 'scene' });
  t.ok(standing.precedenceOf('a').inGoodStanding);
  await standing.restore();
  t.notOk(standing.precedenceOf('a').inGoodStanding);
});

t.test('removing owners of long ago leaves those of the last day', (t) => {
  const { clock, standing, completed, over } = standingOf();
  completed(1_000, 'completes');
  over({ owner: 'fails', phase: 'failed', failedBy: 'scene', durationMs: 2_000 });
  for (let hours = 0; hours < 20; hours++) {
    clock.advance(HOUR_MS);
    completed(1_000);
  }
  t.ok(standing.precedenceOf('completes').inGoodStanding);
  over({ owner: 'fails', phase: 'completed', durationMs: 1_000 });
  t.notOk(standing.precedenceOf('fails').inGoodStanding, 'its failure still counts');
  t.end();
});
