import t from 'tap';
import { newPulses, Pulse } from '../../../../lib/render/counters/pulse.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const TICK_MS = 250;

/** The pulses of two threads, each with a clock of its own, so that one can be stopped alone. */
function twoThreads() {
  const pulses = newPulses();
  const start = '2026-11-27T10:00:00Z';
  const clocks = { owner: new FakeClock(start), workers: new FakeClock(start) };
  const owner = new Pulse({ pulses, side: 'owner', clock: clocks.owner });
  const workers = new Pulse({ pulses, side: 'workers', clock: clocks.workers });
  const measures = [owner.begin(), workers.begin()];
  const run = (ms: number) => {
    for (let passedMs = 0; passedMs < ms; passedMs += TICK_MS)
      for (const clock of [clocks.owner, clocks.workers]) clock.advance(TICK_MS);
  };
  return { clocks, measures, run, workedMs: () => measures.map(({ workedMs }) => workedMs()) };
}

t.test('time in which all threads are stopped is not counted', async (t) => {
  for (const order of [
    ['owner', 'workers'],
    ['workers', 'owner'],
  ] as const) {
    const { clocks, run, workedMs } = twoThreads();
    run(1_000);
    for (const side of order) clocks[side].stall(60_000);
    for (const side of order) clocks[side].advance(TICK_MS);
    run(1_000);
    for (const ms of workedMs()) t.ok(ms >= 2_000 && ms <= 2_000 + 2 * TICK_MS, `${order}: ${ms} ms`);
  }
});

t.test('time in which only one thread is busy is counted', async (t) => {
  for (const busy of ['owner', 'workers'] as const) {
    const { clocks, run, workedMs } = twoThreads();
    run(1_000);
    const other = busy === 'owner' ? 'workers' : 'owner';
    for (let passedMs = 0; passedMs < 60_000; passedMs += TICK_MS) clocks[other].advance(TICK_MS);
    clocks[busy].stall(60_000);
    clocks[busy].advance(TICK_MS);
    const [ownerMs = 0, workersMs = 0] = workedMs();
    t.ok(ownerMs >= 61_000 && workersMs >= 61_000, `${busy}: ${ownerMs} and ${workersMs} ms`);
  }
});

t.test('pauses of up to five seconds are counted', async (t) => {
  const { clocks, run, workedMs } = twoThreads();
  for (const clock of [clocks.owner, clocks.workers]) clock.stall(4_500);
  run(TICK_MS);
  for (const ms of workedMs()) t.ok(ms >= 4_500, `${ms} ms`);
});

t.test('no timer is left when nothing is measured', async (t) => {
  const { clocks, measures } = twoThreads();
  for (const { end } of measures) end();
  t.equal(clocks.owner.nextInMs, undefined);
  t.equal(clocks.workers.nextInMs, undefined);
});
