import type { Disagreement, MachineReport } from './machine-store.ts';

/**
 * The settings that differ from those of other machines, compared by the names that both have.
 *
 * ```ts
 * disagreementsOf({ price: '2' }, [{ name: 'front', settings: { price: '1' } }]);
 * // [{ name: 'price', own: '2', others: '1', machines: ['front'] }]
 * ```
 */
export function disagreementsOf(
  own: MachineReport['settings'],
  others: Iterable<Pick<MachineReport, 'name' | 'settings'>>,
): Disagreement[] {
  const found: Disagreement[] = [];
  for (const { name: machine, settings } of others) {
    for (const [name, value] of Object.entries(settings)) {
      const ownValue = own[name];
      if (ownValue === undefined || ownValue === value) continue;
      const same = found.find((known) => known.name === name && known.others === value);
      if (same) same.machines.push(machine);
      else found.push({ name, own: ownValue, others: value, machines: [machine] });
    }
  }
  return found;
}
