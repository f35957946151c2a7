import t from 'tap';
import type { JobRecord } from '../../../lib/jobs/job.ts';
import { Standing } from '../../../lib/jobs/standing.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const HOUR_MS = 3_600_000;

function standingOf() {
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const standing = new Standing(clock);
  const over = (change: Partial<JobRecord>) =>
    standing.note(jobRecord('1', { owner: 'a', completedAtMs: clock.now(), ...change }));
  const completed = (durationMs: number, owner = 'a') => over({ owner, phase: 'completed', durationMs });
  const failed = (durationMs: number, failedBy: NonNullable<JobRecord['failedBy']> = 'scene') =>
    over({ phase: 'failed', failedBy, durationMs });
  return { clock, standing, over, completed, failed };
}

t.test('an owner is in good standing if completed render time is at least failed render time', (t) => {
  const { standing, completed, failed } = standingOf();
  t.notOk(standing.isGood('a'), 'an unknown owner is not');
  failed(1_000);
  t.notOk(standing.isGood('a'));
  completed(999);
  t.notOk(standing.isGood('a'), 'one millisecond less completed');
  completed(1);
  t.ok(standing.isGood('a'), 'equal times');
  failed(1);
  t.notOk(standing.isGood('a'), 'one millisecond more failed');
  t.notOk(standing.isGood('b'), 'owners are independent');
  t.end();
});

t.test('cancellations count as failures, failures of the service do not count', (t) => {
  const { standing, completed, failed } = standingOf();
  completed(1_000);
  failed(60_000, 'service');
  t.ok(standing.isGood('a'));
  failed(1_001, 'cancel');
  t.notOk(standing.isGood('a'));
  t.end();
});

t.test('a completed render of zero duration counts', (t) => {
  const { standing, completed } = standingOf();
  completed(0);
  t.ok(standing.isGood('a'));
  t.end();
});

t.test('renders count for a day', (t) => {
  const { clock, standing, completed, failed } = standingOf();
  failed(5_000);
  clock.advance(12 * HOUR_MS);
  completed(1_000);
  t.notOk(standing.isGood('a'));
  clock.advance(12 * HOUR_MS);
  t.ok(standing.isGood('a'), 'the failure has expired');
  clock.advance(12 * HOUR_MS);
  t.notOk(standing.isGood('a'), 'the completed render has expired, too');
  t.end();
});

t.test('only jobs that ended count', (t) => {
  const { standing, over } = standingOf();
  const completed = { phase: 'completed', durationMs: 1000 } as const;
  over({ ...completed, completedAtMs: null });
  over({ ...completed, durationMs: null });
  over({ phase: 'running', durationMs: 1000 });
  t.notOk(standing.isGood('a'));
  over(completed);
  t.ok(standing.isGood('a'));
  over({ phase: 'running', durationMs: 5000, failedBy: 'scene' });
  over({ phase: 'failed', durationMs: 5000 });
  over({ phase: 'completed', durationMs: 1, failedBy: 'scene' });
  t.ok(standing.isGood('a'));
  standing.clear();
  t.notOk(standing.isGood('a'));
  t.end();
});

t.test('removing owners of long ago leaves those of the last day', (t) => {
  const { clock, standing, completed, over } = standingOf();
  completed(1_000, 'completes');
  over({ owner: 'fails', phase: 'failed', failedBy: 'scene', durationMs: 2_000 });
  for (let hours = 0; hours < 20; hours++) {
    clock.advance(HOUR_MS);
    completed(1_000);
  }
  t.ok(standing.isGood('completes'));
  over({ owner: 'fails', phase: 'completed', durationMs: 1_000 });
  t.notOk(standing.isGood('fails'), 'its failure still counts');
  t.end();
});
