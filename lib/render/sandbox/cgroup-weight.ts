import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of a group's usual 100; what the kernel gives the niceness that `priority.py` gives a session. */
const WEIGHT = { normal: 33, background: 11 };

/**
 * Has the kernel share the processor among the children of a group, where it does so among those of its parent. There
 * sessions get no shares of their own: the many processes of one scene would outweigh the few of another.
 */
export function shareProcessor(folder: string): void {
  if (!/\bcpu\b/.test(readFileSync(join(folder, 'cgroup.controllers'), 'utf8'))) return;
  try {
    writeFileSync(join(folder, 'cgroup.subtree_control'), '+cpu');
  } catch {
    // Refused where a process with a real-time priority would come into a group.
  }
}

/** Sets the share of the processor that a group gets, where it is shared among groups. */
export function writeWeight(folder: string, { background }: { background: boolean }): void {
  const file = join(folder, 'cpu.weight');
  if (existsSync(file)) writeFileSync(file, String(background ? WEIGHT.background : WEIGHT.normal));
}
