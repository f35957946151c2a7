import t from 'tap';
import { SteadyClock } from '../../../lib/time/steady-clock.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const HOUR_MS = 3_600_000;

t.test('a clock is trusted after 50 minutes without being set', async (t) => {
  const clock = new FakeClock('2026-11-22T10:00:00Z');
  const steady = new SteadyClock(clock);
  const pass = (ms: number, jumpMs = 0) => {
    clock.advance(ms);
    clock.set(new Date(clock.now() + jumpMs).toISOString());
  };
  t.notOk(steady.look(), 'at the start');
  pass(10 * 60_000);
  t.notOk(steady.look(), 'soon after the start');
  pass(40 * 60_000, 1_000);
  t.ok(steady.look());
  pass(HOUR_MS, 365 * 24 * HOUR_MS);
  t.notOk(steady.look(), 'after it was set a year ahead');
  pass(5 * 60_000, -365 * 24 * HOUR_MS);
  t.notOk(steady.look(), 'after it was corrected');
  pass(HOUR_MS);
  t.ok(steady.look());
});
