import t, { type Test } from 'tap';
import { assertSchedule, lastTimes, schedule } from '../../../lib/time/schedule.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function scheduled(
  t: Test,
  { from, pattern }: { from: string; pattern: string },
): { clock: FakeClock; calls: string[] } {
  const clock = new FakeClock(from);
  const calls: string[] = [];
  const timer = schedule(clock, pattern, () => {
    calls.push(new Date(clock.now()).toISOString());
  });
  t.teardown(() => timer.cancel());
  return { clock, calls };
}

t.test('work is done at its times, in UTC, once each', async (t) => {
  const { clock, calls } = scheduled(t, { from: '2026-03-28T03:29:59.500Z', pattern: '30 3 * * *' });
  clock.advance(2 * DAY_MS);
  t.same(calls, ['2026-03-28T03:30:00.000Z', '2026-03-29T03:30:00.000Z']);
});

t.test('the first of a month comes after months of any length', async (t) => {
  const { clock, calls } = scheduled(t, { from: '2028-01-15T00:00:00Z', pattern: '0 0 1 * *' });
  clock.advance(60 * DAY_MS);
  t.same(calls, ['2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z']);
});

t.test('a time that passed while the machine slept is made up for, once', async (t) => {
  const { clock, calls } = scheduled(t, { from: '2026-11-21T03:00:00Z', pattern: '*/10 * * * *' });
  clock.set('2026-11-21T03:45:00Z');
  clock.advance(MINUTE_MS);
  t.same(calls, ['2026-11-21T03:46:00.000Z']);
  clock.set('2026-11-22T03:41:00Z');
  clock.advance(MINUTE_MS);
  t.equal(calls.length, 2);
});

t.test('a clock that is set back repeats its times, and loses none', async (t) => {
  const { clock, calls } = scheduled(t, { from: '2026-11-21T03:29:00Z', pattern: '30 3 * * *' });
  clock.advance(MINUTE_MS);
  clock.set('2026-11-21T03:20:00Z');
  clock.advance(15 * MINUTE_MS);
  t.same(calls, ['2026-11-21T03:30:00.000Z', '2026-11-21T03:30:00.000Z']);
});

t.test('nothing is done after it was canceled', async (t) => {
  const clock = new FakeClock('2026-11-21T03:29:00Z');
  let calls = 0;
  const timer = schedule(clock, '* * * * *', () => {
    calls += 1;
    timer.cancel();
  });
  clock.advance(DAY_MS);
  t.equal(calls, 1);
  t.equal(clock.nextInMs, undefined);
});

t.test('the last times of a pattern are found', async (t) => {
  const last = (pattern: string, now: string, count = 2) =>
    lastTimes(pattern, Date.parse(now), count).map((ms) => new Date(ms).toISOString());
  t.same(last('30 2 * * *', '2026-11-27T02:30:00Z'), [
    '2026-11-27T02:30:00.000Z',
    '2026-11-26T02:30:00.000Z',
  ]);
  t.same(last('30 2 * * *', '2026-11-27T02:29:59Z', 1), ['2026-11-26T02:30:00.000Z']);
  t.same(last('*/20 1,2 * * 1-5', '2026-11-30T01:10:00Z'), [
    '2026-11-30T01:00:00.000Z',
    '2026-11-27T02:40:00.000Z',
  ]);
  t.same(last('0 0 29 2 *', '2026-11-27T00:00:00Z'), [
    '2024-02-29T00:00:00.000Z',
    '2020-02-29T00:00:00.000Z',
  ]);
});

t.test('a pattern that could not be followed is refused', async (t) => {
  for (const pattern of ['30 2 * * *', '@daily', '0 2 * * mon-fri', '*/10 * 1-7 * 7'])
    assertSchedule(pattern);
  for (const pattern of ['', 'x', '30 25 * * *', '0 0 31 2 *', '* * * * * *', '0 0 L * *', '0 2 * * 1#2'])
    t.throws(() => assertSchedule(pattern), pattern);
});
