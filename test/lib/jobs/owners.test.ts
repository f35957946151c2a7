import t, { type Test } from 'tap';
import { SortableIds } from '../../../lib/ids.ts';
import { DataFolder } from '../../../lib/index.ts';
import { Owners } from '../../../lib/jobs/owners.ts';
import { systemRandom } from '../../../lib/random.ts';
import { jobRecord } from '../../../lib/testing/job-record.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const HOUR_MS = 3_600_000;

async function openOwners(t: Test, { jobsPerSecond = 0 } = {}) {
  const folder = new DataFolder(await temporaryFolder(t));
  await folder.start();
  t.teardown(() => folder.stop());
  const { storage } = folder;
  const clock = new FakeClock('2026-11-21T10:00:00Z');
  const ids = new SortableIds(clock, systemRandom);
  const budgets = { failuresPerHour: 1, unpaidSecondsPerHour: 0, jobsPerSecond };
  const owners = new Owners({ storage, clock, budgets });
  /** Stores a job that ends now. */
  const end = (owner: string, phase: 'completed' | 'failed') =>
    storage.transaction((tx) => {
      const ended = { durationMs: 1000, completedAtMs: clock.now(), createdAtMs: clock.now() };
      const failure = phase === 'failed' ? { failedBy: 'scene' as const } : {};
      return storage.insertJob(tx, jobRecord(ids.next(), { owner, phase, ...ended, ...failure }), '');
    });
  return { owners, clock, end };
}

t.test(
  'owners who spent a budget yield, and those with completed renders are in good standing',
  async (t) => {
    const { owners, clock } = await openOwners(t);
    const ended = { durationMs: 1000, completedAtMs: clock.now() };
    t.same(owners.precedenceOf('ada'), { yields: false, inGoodStanding: false });
    owners.note(jobRecord('1', { owner: 'ada', phase: 'completed', ...ended }));
    t.same(owners.precedenceOf('ada'), { yields: false, inGoodStanding: true });
    owners.note(jobRecord('2', { owner: 'eve', phase: 'failed', failedBy: 'scene', ...ended }));
    t.same(owners.precedenceOf('eve'), { yields: true, inGoodStanding: false });
    owners.assertWithinBudget('ada');
    t.throws(() => owners.assertWithinBudget('eve'), { code: 'too_many_failures' });
  },
);

t.test('an owner adds ten seconds’ worth of jobs at once, then so many a second', async (t) => {
  const { owners, clock } = await openOwners(t, { jobsPerSecond: 2 });
  for (let added = 0; added < 20; added++) owners.assertWithinRate('eve');
  t.throws(() => owners.assertWithinRate('eve'), {
    code: 'too_many_requests',
    message: /Try again in 1 s/,
    retryAfterMs: 500,
  });
  owners.assertWithinRate('ada');
  clock.advance(500);
  owners.assertWithinRate('eve');
  t.throws(() => owners.assertWithinRate('eve'), { code: 'too_many_requests' });
  const unlimited = (await openOwners(t)).owners;
  for (let added = 0; added < 1000; added++) unlimited.assertWithinRate('eve');
});

t.test('a start counts the jobs of the last 24 hours again, once', async (t) => {
  const { owners, clock, end } = await openOwners(t);
  await end('old', 'completed');
  clock.advance(HOUR_MS);
  await end('ada', 'completed');
  clock.advance(23 * HOUR_MS - HOUR_MS / 2);
  await end('eve', 'failed');
  clock.advance(HOUR_MS / 2);
  for (let starts = 0; starts < 2; starts++) {
    await owners.restore();
    t.equal(owners.precedenceOf('old').inGoodStanding, false);
    t.equal(owners.precedenceOf('ada').inGoodStanding, true);
    t.equal(owners.precedenceOf('eve').yields, true);
  }
});

t.test('what was counted before a start is counted no more', async (t) => {
  const { owners, clock } = await openOwners(t);
  const ended = { durationMs: 1000, completedAtMs: clock.now() };
  owners.note(jobRecord('1', { owner: 'ada', phase: 'completed', ...ended }));
  owners.note(jobRecord('2', { owner: 'eve', phase: 'failed', failedBy: 'scene', ...ended }));
  await owners.restore();
  t.equal(owners.precedenceOf('ada').inGoodStanding, false);
  t.equal(owners.precedenceOf('eve').yields, false);
});
