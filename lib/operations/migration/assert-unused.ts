import { ScenepressError } from '../../base/errors.ts';
import { MACHINE_DEAD_AFTER_MS, type MachineStore } from '../../cluster/machine-store.ts';

/** Error: `conflict` while processes report to the storage. */
export async function assertUnused({ machineStore }: { machineStore: MachineStore }): Promise<void> {
  const alive = (await machineStore.list()).filter(({ unseenForMs }) => unseenForMs <= MACHINE_DEAD_AFTER_MS);
  if (alive.length === 0) return;
  const names = alive.map(({ name }) => name).join(', ');
  throw new ScenepressError('conflict', `Stop these machines first: ${names}.`);
}
