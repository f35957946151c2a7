import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import t from 'tap';
import { Simulation } from './simulation.ts';

const RUNS = Number(process.env['SIMULATIONS'] ?? 6);
const HOURS = Number(process.env['SIMULATED_HOURS'] ?? 2);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const MEMORY = '/dev/shm';

t.test(`a simulated service keeps its invariants, from SEED=${SEED} on`, async (t) => {
  let total = { jobs: 0, lives: 0 };
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const simulation = new Simulation(seed, existsSync(MEMORY) ? MEMORY : tmpdir());
    try {
      const { jobs, lives } = await simulation.run(HOURS * 3_600_000);
      total = { jobs: total.jobs + jobs, lives: total.lives + lives };
    } catch (error) {
      t.comment(simulation.log.slice(-20).join('\n'));
      t.comment(`To repeat it: SEED=${seed} SIMULATIONS=1 SIMULATED_HOURS=${HOURS}`);
      throw error;
    } finally {
      await simulation.end();
    }
  }
  t.ok(total.jobs > RUNS, `${total.jobs} jobs in ${total.lives} lives`);
});
