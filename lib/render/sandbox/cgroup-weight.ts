import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** CPU weights (default 100), equivalent to the niceness that `sandbox/priority.py` sets for a session. */
const WEIGHT = { normal: 80, background: 11 };

/**
 * Enables the CPU controller for the children of a group, if available. In control groups, sessions get no shares of
 * their own: a scene with many processes would outweigh one with few.
 */
export function shareProcessor(folder: string): void {
  if (!/\bcpu\b/.test(readFileSync(join(folder, 'cgroup.controllers'), 'utf8'))) return;
  try {
    writeFileSync(join(folder, 'cgroup.subtree_control'), '+cpu');
  } catch {
    // Fails when a process with real-time priority would join a group.
  }
}

/** Sets the CPU weight of a group, if available. */
export function writeWeight(folder: string, { background }: { background: boolean }): void {
  const file = join(folder, 'cpu.weight');
  if (existsSync(file)) writeFileSync(file, String(background ? WEIGHT.background : WEIGHT.normal));
}
