import './one-disk-thread.ts';
import t, { type Test } from 'tap';
import { isDeep, times } from '../fixtures/depth.ts';
import { type ClusterHistory, ClusterSimulation } from './cluster-simulation.ts';
import { FOLDER, toItsEnd } from './to-its-end.ts';
import { yearsAnHour } from './years-an-hour.ts';

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const RUNS = times('SIMULATIONS', { quick: 1, deep: 1 });
const HOURS = times('SIMULATED_HOURS', { quick: 0.5, deep: 1 });

function simulated(t: Test, seed: number, hours = HOURS): Promise<ClusterHistory> {
  const simulation = new ClusterSimulation({ seed, folder: FOLDER });
  return toItsEnd(t, simulation, { seed, hours });
}

t.test(`a simulation of several processes keeps the invariants, from SEED=${SEED} on`, async (t) => {
  const beganAtMs = performance.now();
  const total = { jobs: 0, processes: 0, overlaps: 0 };
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const { jobs, processes, overlaps } = await simulated(t, seed);
    total.jobs += jobs;
    total.processes += processes;
    total.overlaps += overlaps;
  }
  const pace = yearsAnHour(RUNS * HOURS, beganAtMs);
  const { jobs, processes, overlaps } = total;
  t.ok(jobs > RUNS, `${jobs} jobs in ${processes} processes, ${overlaps} rendered twice at once, ${pace}`);
});

t.test(`the same seed makes the same history of several processes, SEED=${SEED}`, async (t) => {
  const hours = isDeep ? 0.2 : 0.05;
  const first = await simulated(t, SEED, hours);
  t.same(await simulated(t, SEED, hours), first);
  t.not((await simulated(t, SEED + 1, hours)).hash, first.hash);
});
