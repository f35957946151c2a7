import './one-disk-thread.ts';
import t, { type Test } from 'tap';
import { isDeep, isRelease } from '../fixtures/depth.ts';
import { type History, Simulation, type SimulationOptions } from './simulation.ts';
import { FOLDER, toItsEnd } from './to-its-end.ts';
import { yearsAnHour } from './years-an-hour.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const PACE = Object.fromEntries(
  Object.entries({ actEveryMs: 'ACT_EVERY_S', crashEveryMs: 'CRASH_EVERY_S' })
    .map(([name, variable]) => [name, Number(process.env[variable]) * 1000] as const)
    .filter(([, ms]) => ms > 0),
);

interface Kind {
  /** Simulations, each with the next seed. */
  runs: number;
  hours: number;
  options: Partial<SimulationOptions>;
}

const KINDS: Record<string, Kind> = {
  'with a busy service': { runs: isRelease ? 3 : 1, hours: isDeep ? 0.5 : 0.3, options: {} },
  'with stores that answer late': {
    runs: isRelease ? 3 : 1,
    hours: isDeep ? 0.5 : 0.3,
    options: { isLate: true },
  },
  'with the real pool of renderers': {
    runs: isRelease ? 3 : 1,
    hours: isDeep ? 0.5 : 0.3,
    options: { hasPool: true },
  },
  'over a month': {
    runs: 1,
    hours: (isRelease ? 30 : isDeep ? 7 : 5) * 24,
    options: { actEveryMs: 4 * HOUR_MS, crashEveryMs: 5 * DAY_MS },
  },
};

function hoursOf(kind: Kind): number {
  return Number(process.env['SIMULATED_HOURS'] ?? kind.hours);
}

function simulated(t: Test, kind: Kind, seed: number): Promise<History> {
  const simulation = new Simulation({
    ...kind.options,
    ...PACE,
    seed,
    folder: FOLDER,
  });
  return toItsEnd(t, simulation, { seed, hours: hoursOf(kind) });
}

for (const [name, kind] of Object.entries(KINDS)) {
  t.test(`a simulation ${name} keeps the invariants, from SEED=${SEED} on`, async (t) => {
    const runs = Number(process.env['SIMULATIONS'] ?? kind.runs);
    const beganAtMs = performance.now();
    const total = { jobs: 0, lives: 0, fullDisks: 0 };
    for (let seed = SEED; seed < SEED + runs; seed++) {
      const { jobs, lives, fullDisks } = await simulated(t, kind, seed);
      total.jobs += jobs;
      total.lives += lives;
      total.fullDisks += fullDisks;
    }
    const { jobs, lives, fullDisks } = total;
    const pace = yearsAnHour(runs * hoursOf(kind), beganAtMs);
    t.ok(jobs > runs, `${jobs} jobs in ${lives} lives with ${fullDisks} full disks, ${pace}`);
  });
}

t.test(`the same seed makes the same history, SEED=${SEED}`, async (t) => {
  for (const options of [{}, { isLate: true }, { hasPool: true }]) {
    const kind = { runs: 1, hours: isDeep ? 0.2 : 0.05, options };
    const first = await simulated(t, kind, SEED);
    t.same(await simulated(t, kind, SEED), first);
    t.not((await simulated(t, kind, SEED + 1)).hash, first.hash);
  }
});
