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
import { setTimeout as delay } from 'node:timers/promises';

/**
 * A group that root's service makes for its renders at the top of the machine's tree of groups, where its own group is
 * not its to arrange:
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

/** Makes a group at the top and has its children counted. Throws when the kernel or the tree's owner forbids it. */
export function makeOwnGroup(top: string, controllers: string[]): string {
  const enabling = controllers.map((name) => `+${name}`).join(' ');
  const enabled = readFileSync(join(top, 'cgroup.subtree_control'), 'utf8').split(/\s+/);
  // Elsewhere than at the root of all groups this fails where there are processes, and changes nothing.
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

/** Removes a group that was made here; what dies in it may take a moment. Another group is left alone. */
export async function removeOwnGroup(folder: string): Promise<void> {
  if (!basename(folder).startsWith(`${OWN}${processNamespace()}-${process.pid}-`)) return;
  for (let tries = 0; tries < TRIES && !removed(folder); tries++) await delay(PAUSE_MS);
}

/** Removes what killed services have left. Ids of processes mean nothing in another namespace. */
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
    return !existsSync(dirname(folder)) || !existsSync(folder); // Else something still dies in it.
  }
}

/** The number of the process-id namespace that this process is in. */
function processNamespace(): string {
  return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
}
