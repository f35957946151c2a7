import { ScenepressError } from '../errors.ts';
import type { MachineStore } from '../machines/machine-store.ts';

/** A process that has not reported for so long has ended. */
const DEAD_AFTER_MS = 30_000;

/** Error: `conflict` while processes report to the storage. */
export async function assertUnused({ machineStore }: { machineStore: MachineStore }): Promise<void> {
  const alive = (await machineStore.list()).filter(({ unseenForMs }) => unseenForMs <= DEAD_AFTER_MS);
  if (alive.length === 0) return;
  const names = alive.map(({ name }) => name).join(', ');
  throw new ScenepressError('conflict', `Stop these machines first: ${names}.`);
}
