import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Clock, delay } from '../../time/clock.ts';

/**
 * A group that a service running as root creates at the top of the cgroup tree when its own group is not delegated:
 *
 * ```
 * the top                                        already counts memory and processes, or can without disturbing others
 *   scenepress-<process-id namespace>-<pid>-<n>  the service stays where it is
 *     render-<pid>-<worker>-<n>
 * ```
 */
const OWN = 'scenepress-';
const TRIES = 20;
const PAUSE_MS = 50;

/** Creates a group at the top and enables the controllers for its children. Throws when that is not permitted. */
export function makeOwnGroup(top: string, controllers: string[]): string {
  const enabling = controllers.map((name) => `+${name}`).join(' ');
  const enabled = readFileSync(join(top, 'cgroup.subtree_control'), 'utf8').split(/\s+/);
  // Outside the root group, this fails without changes when the group contains processes.
  if (!controllers.every((name) => enabled.includes(name))) {
    writeFileSync(join(top, 'cgroup.subtree_control'), enabling);
  }
  const prefix = `${OWN}${processNamespace()}-`;
  removeLeft(top, prefix);
  let number = 1;
  while (existsSync(join(top, `${prefix}${process.pid}-${number}`))) number += 1;
  const folder = join(top, `${prefix}${process.pid}-${number}`);
  mkdirSync(folder);
  try {
    writeFileSync(join(folder, 'cgroup.subtree_control'), enabling);
  } catch (error) {
    rmdirSync(folder);
    throw error;
  }
  return folder;
}

/** Removes a group created by {@link makeOwnGroup}, waiting for exiting processes. Ignores other groups. */
export async function removeOwnGroup(folder: string, clock: Clock): Promise<void> {
  if (!basename(folder).startsWith(`${OWN}${processNamespace()}-${process.pid}-`)) return;
  for (let tries = 0; tries < TRIES && !removed(folder); tries++) await delay(clock, PAUSE_MS);
}

/** Removes groups left by killed services of this pid namespace. */
function removeLeft(top: string, prefix: string): void {
  for (const name of readdirSync(top).filter((name) => name.startsWith(prefix))) {
    const [pid] = name.slice(prefix.length).split('-');
    if (!existsSync(`/proc/${pid}`)) removed(join(top, name));
  }
}

function removed(folder: string): boolean {
  try {
    for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    )) {
      rmdirSync(join(folder, name));
    }
    rmdirSync(folder);
    return true;
  } catch {
    return !existsSync(dirname(folder)) || !existsSync(folder); // Otherwise a process in it is still exiting.
  }
}

/** The id of this process's pid namespace. */
function processNamespace(): string {
  return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
}
