import t from 'tap';
import { OwnerSums } from '../../../../lib/jobs/fairness/owner-sums.ts';
import { HOUR_MS, SlidingSum } from '../../../../lib/jobs/fairness/sliding-sum.ts';

const NOW_MS = Date.parse('2026-11-21T10:00:00Z');

function sumsOf() {
  const sums = new OwnerSums(() => ({ hour: new SlidingSum(HOUR_MS), day: new SlidingSum(24 * HOUR_MS) }));
  const add = (owner: string, sum: 'hour' | 'day', nowMs: number) =>
    sums.for(owner, nowMs)[sum].add(1, nowMs, nowMs);
  return { sums, add };
}

t.test('each owner has sums, which are kept', (t) => {
  const { sums, add } = sumsOf();
  t.equal(sums.get('a'), undefined);
  add('a', 'hour', NOW_MS);
  add('b', 'hour', NOW_MS);
  add('a', 'hour', NOW_MS);
  t.equal(sums.get('a')?.hour.sum(NOW_MS), 2);
  t.equal(sums.get('a')?.day.sum(NOW_MS), 0);
  t.equal(sums.get('b')?.hour.sum(NOW_MS), 1);
  t.equal(sums.size, 2);
  sums.clear();
  t.equal(sums.size, 0);
  t.equal(sums.get('a'), undefined);
  t.end();
});

t.test('owners without recent amounts are removed when another is added to', (t) => {
  const { sums, add } = sumsOf();
  add('old', 'hour', NOW_MS);
  add('older', 'hour', NOW_MS);
  add('of the day', 'day', NOW_MS);
  add('recent', 'hour', NOW_MS + HOUR_MS - 1);
  t.equal(sums.size, 4);
  add('recent', 'hour', NOW_MS + HOUR_MS);
  t.equal(sums.get('old'), undefined);
  t.equal(sums.get('older'), undefined);
  t.equal(sums.get('of the day')?.day.sum(NOW_MS + HOUR_MS), 1);
  t.equal(sums.get('recent')?.hour.sum(NOW_MS + HOUR_MS), 2);
  t.end();
});

t.test('an owner that is added to again does not keep others', (t) => {
  const { sums, add } = sumsOf();
  add('a', 'hour', NOW_MS);
  add('b', 'hour', NOW_MS);
  add('a', 'hour', NOW_MS + HOUR_MS / 2);
  add('c', 'hour', NOW_MS + HOUR_MS);
  t.equal(sums.size, 2);
  t.equal(sums.get('b'), undefined);
  t.end();
});
