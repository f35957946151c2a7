import './one-disk-thread.ts';
import t, { type Test } from 'tap';
import { times } from '../fixtures/depth.ts';
import { type PoolHistory, PoolSimulation } from './pool-simulation.ts';
import { FOLDER, toItsEnd } from './to-its-end.ts';
import { yearsAnHour } from './years-an-hour.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const RUNS = times('SIMULATIONS', { quick: 1, deep: 4 });
const HOURS = times('SIMULATED_HOURS', { quick: 0.5, deep: 1 });

function simulated(t: Test, seed: number): Promise<PoolHistory> {
  const simulation = new PoolSimulation({ seed, folder: FOLDER });
  return toItsEnd(t, simulation, { seed, hours: HOURS });
}

t.test(`a pool of renderers keeps its invariants whatever fails, from SEED=${SEED} on`, async (t) => {
  const beganAtMs = performance.now();
  const total = { renders: 0, starts: 0 };
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const { renders, starts } = await simulated(t, seed);
    total.renders += renders;
    total.starts += starts;
  }
  const pace = yearsAnHour(RUNS * HOURS, beganAtMs);
  t.ok(total.renders > RUNS, `${total.renders} renders, ${total.starts} starts, ${pace}`);
});

t.test(`the same seed makes the same history of a pool, SEED=${SEED}`, async (t) => {
  const first = await simulated(t, SEED);
  t.same(await simulated(t, SEED), first);
  t.not((await simulated(t, SEED + 1)).hash, first.hash);
});
