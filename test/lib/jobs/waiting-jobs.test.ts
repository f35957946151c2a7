import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { type Turns, WaitingJobs } from '../../../lib/jobs/waiting-jobs.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';

const ALL: Turns = { mayHaveTurn: () => true, yields: () => false, mayTakeSuspect: true };

/** Waiting jobs for which time passes when the test says so, and how often they said that one is due. */
function setUp(t: Test) {
  mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  t.intercept(performance, 'now', { value: () => nowMs });
  const told = { due: 0 };
  const waiting = new WaitingJobs(() => {
    told.due += 1;
  });
  t.teardown(() => {
    waiting.stop();
    mock.timers.reset();
  });
  const pass = (ms: number) => {
    nowMs += ms;
    mock.timers.tick(ms);
  };
  return { waiting, pass, told };
}

const job = (jobId: string, owner: string, interruptions = 0) =>
  jobRecord(jobId, { owner, ...(interruptions > 0 && { interruptions }) });

t.test('a job that was interrupted once keeps its place', async (t) => {
  const { waiting } = setUp(t);
  for (const each of [job('1', 'a', 1), job('2', 'a')]) waiting.add(each);
  t.match(waiting.take(ALL), { jobId: '1', isSuspect: false });
});

t.test('one that was interrupted again waits, longer each time, while the others are rendered', async (t) => {
  for (const [interruptions, holdMs] of [
    [2, 2_000],
    [3, 4_000],
    [9, 256_000],
    [10, 300_000],
    [2000, 300_000],
  ] as const) {
    await t.test(`${interruptions} interruptions`, async (t) => {
      const { waiting, pass, told } = setUp(t);
      waiting.add(job('1', 'poison', interruptions));
      for (const jobId of ['2', '3']) waiting.add(job(jobId, 'a'));
      t.equal(waiting.size, 3);
      t.equal(waiting.sizeOf('poison'), 1);
      t.equal(waiting.oldest, '1');
      t.equal(waiting.take(ALL)?.jobId, '2');
      pass(holdMs - 1);
      t.equal(waiting.take(ALL)?.jobId, '3');
      t.equal(waiting.take(ALL), undefined);
      t.equal(told.due, 0);
      pass(1);
      t.equal(told.due, 1, 'it is told when it may begin');
      t.match(waiting.take(ALL), { owner: 'poison', jobId: '1', isSuspect: true });
      t.equal(waiting.size, 0);
    });
  }
});

t.test('suspects go one at a time, the least likely cause first', async (t) => {
  const { waiting, pass, told } = setUp(t);
  for (const [jobId, interruptions] of [
    ['1', 4],
    ['2', 2],
    ['3', 3],
  ] as const) {
    waiting.add(job(jobId, jobId, interruptions));
  }
  for (let i = 0; i < 4; i++) pass(2_000);
  t.equal(told.due, 3);
  t.equal(waiting.take({ ...ALL, mayTakeSuspect: false }), undefined, 'while another one runs');
  t.equal(waiting.take({ ...ALL, mayHaveTurn: (owner) => owner !== '2' })?.jobId, '3');
  t.equal(waiting.take(ALL)?.jobId, '2');
  t.equal(waiting.take(ALL)?.jobId, '1');
});

t.test(
  'a suspect that has waited goes before others: a full queue does not keep it off for ever',
  async (t) => {
    const { waiting, pass } = setUp(t);
    waiting.add(job('1', 'a', 2));
    waiting.add(job('2', 'b'));
    pass(2_000);
    t.equal(waiting.take(ALL)?.jobId, '1');
  },
);

t.test('a suspect can be taken out, and waits again when it is put back', async (t) => {
  const { waiting, pass } = setUp(t);
  waiting.putBack(job('1', 'a', 2));
  t.equal(waiting.take(ALL), undefined);
  t.equal(waiting.remove('a', '1'), true);
  t.equal(waiting.remove('a', '1'), false);
  pass(10_000);
  t.equal(waiting.take(ALL), undefined);
});

t.test('owners that yield have their turn when no other job may begin', async (t) => {
  const { waiting } = setUp(t);
  for (const [jobId, owner] of [
    ['1', 'spent'],
    ['2', 'a'],
    ['3', 'a'],
    ['4', 'busy'],
  ] as const) {
    waiting.add(job(jobId, owner));
  }
  const turns: Turns = {
    ...ALL,
    yields: (owner) => owner === 'spent',
    mayHaveTurn: (owner) => owner !== 'busy',
  };
  const order = ['2', '3', '1', undefined];
  for (const jobId of order) t.equal(waiting.take(turns)?.jobId, jobId);
});
