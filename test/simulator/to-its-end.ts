import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Test } from 'tap';

const HOUR_MS = 3_600_000;
const MEMORY = '/dev/shm';

interface Simulation<History> {
  readonly log: readonly string[];
  run(ms: number): Promise<History>;
  end(): Promise<unknown>;
}

/** Where simulations keep their files: in memory, if there is such a folder. */
export const FOLDER: string = existsSync(MEMORY) ? MEMORY : tmpdir();

/** Runs a simulation and ends it. If it fails, the end of its log is printed, and how to repeat it. */
export async function toItsEnd<History>(
  t: Test,
  simulation: Simulation<History>,
  { seed, hours }: { seed: number; hours: number },
): Promise<History> {
  try {
    return await simulation.run(hours * HOUR_MS);
  } catch (error) {
    t.comment(simulation.log.slice(-20).join('\n'));
    t.comment(`To repeat it: SEED=${seed} SIMULATIONS=1`);
    throw error;
  } finally {
    await simulation.end();
  }
}
