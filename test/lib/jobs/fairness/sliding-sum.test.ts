import t from 'tap';
import { HOUR_MS, SlidingSum } from '../../../../lib/jobs/fairness/sliding-sum.ts';

const MINUTE_MS = 60_000;
const NOW_MS = Date.parse('2026-11-21T10:00:00Z');

t.test('an amount counts for an hour, to the minute', (t) => {
  const counter = new SlidingSum(HOUR_MS);
  counter.add(3, NOW_MS, NOW_MS);
  counter.add(4, NOW_MS + 10 * MINUTE_MS, NOW_MS + 10 * MINUTE_MS);
  t.equal(counter.sum(NOW_MS + HOUR_MS - 1), 7);
  t.equal(counter.sum(NOW_MS + HOUR_MS), 4);
  t.equal(counter.sum(NOW_MS + HOUR_MS + 10 * MINUTE_MS), 0);
  t.end();
});

t.test('msUntilBelow returns when the sum falls below a limit', (t) => {
  const counter = new SlidingSum(HOUR_MS);
  for (let minute = 0; minute < 10; minute++)
    counter.add(1, NOW_MS + minute * MINUTE_MS, NOW_MS + minute * MINUTE_MS);
  const nowMs = NOW_MS + 30 * MINUTE_MS;
  t.equal(counter.msUntilBelow(11, nowMs), 0);
  t.equal(counter.msUntilBelow(10, nowMs), 30 * MINUTE_MS);
  t.equal(counter.msUntilBelow(7, nowMs), 33 * MINUTE_MS);
  t.ok(counter.msUntilBelow(10, nowMs + 30 * MINUTE_MS - 1) > 0);
  t.equal(counter.msUntilBelow(10, nowMs + 30 * MINUTE_MS), 0);
  t.end();
});

t.test('past amounts are added at their time, and those that are too old are ignored', (t) => {
  const counter = new SlidingSum(HOUR_MS);
  counter.add(1, NOW_MS - 50 * MINUTE_MS, NOW_MS);
  counter.add(1, NOW_MS - 70 * MINUTE_MS, NOW_MS);
  t.equal(counter.sum(NOW_MS), 1);
  t.equal(counter.sum(NOW_MS + 10 * MINUTE_MS), 0);
  t.end();
});

t.test('a clock set back delays expiry by at most an hour', (t) => {
  const counter = new SlidingSum(HOUR_MS);
  counter.add(5, NOW_MS, NOW_MS);
  t.equal(counter.sum(NOW_MS - 2 * MINUTE_MS), 5, 'set back a little: amounts are kept');
  counter.add(1, NOW_MS - 2 * MINUTE_MS, NOW_MS - 2 * MINUTE_MS);
  t.equal(counter.sum(NOW_MS), 6);
  t.equal(counter.sum(NOW_MS - 24 * HOUR_MS), 0, 'set back far: the sum starts again at 0');
  t.end();
});

t.test('the oldest part of the window counts, the one before it does not', (t) => {
  const counter = new SlidingSum(HOUR_MS);
  counter.add(1, NOW_MS - 59 * MINUTE_MS, NOW_MS);
  t.equal(counter.sum(NOW_MS), 1);
  counter.add(2, NOW_MS - 60 * MINUTE_MS, NOW_MS);
  t.equal(counter.sum(NOW_MS), 1);
  t.end();
});

t.test('an amount of the last minute counts to the end of the window', (t) => {
  const counter = new SlidingSum(HOUR_MS);
  const nowMs = NOW_MS + MINUTE_MS / 2;
  counter.add(5, nowMs, nowMs);
  t.equal(counter.msUntilBelow(5, nowMs), 59.5 * MINUTE_MS);
  t.equal(counter.msUntilBelow(6, nowMs), 0);
  t.equal(counter.msUntilBelow(0, nowMs), HOUR_MS, 'no sum is below 0');
  t.end();
});

t.test('after a jump by a window or more, forwards or backwards, the sum starts again', (t) => {
  for (const [minutes, sum] of [
    [-61, 0],
    [-60, 0],
    [-59, 5],
    [59, 5],
    [60, 0],
    [61, 0],
    [600, 0],
  ] as const) {
    const counter = new SlidingSum(HOUR_MS);
    counter.add(5, NOW_MS, NOW_MS);
    const nowMs = NOW_MS + minutes * MINUTE_MS;
    t.equal(counter.sum(nowMs), sum, `${minutes} minutes`);
    if (sum !== 0) continue;
    counter.add(1, nowMs, nowMs);
    t.equal(counter.sum(nowMs + 59 * MINUTE_MS), 1);
    t.equal(counter.sum(nowMs + 60 * MINUTE_MS), 0);
  }
  t.end();
});

t.test('the sum agrees with one over all amounts', (t) => {
  const counter = new SlidingSum(HOUR_MS);
  const all: { amount: number; atMs: number }[] = [];
  let nowMs = NOW_MS;
  for (let i = 0; i < 2000; i++) {
    nowMs += (i * 7919) % 200_000;
    all.push({ amount: i % 13, atMs: nowMs });
    counter.add(i % 13, nowMs, nowMs);
    const since = (Math.floor(nowMs / MINUTE_MS) - 59) * MINUTE_MS;
    const expected = all.filter(({ atMs }) => atMs >= since).reduce((sum, { amount }) => sum + amount, 0);
    if (counter.sum(nowMs) !== expected) t.equal(counter.sum(nowMs), expected, `after ${i}`);
  }
  t.end();
});
