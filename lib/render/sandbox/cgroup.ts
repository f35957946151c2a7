import { execFile } from 'node:child_process';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../../time/clock.ts';
import { onMachine, type RendererRoot, startOutside } from '../environment/renderer-root.ts';
import { shareProcessor, writeWeight } from './cgroup-weight.ts';
import { makeOwnGroup, removeOwnGroup } from './own-cgroup.ts';

/**
 * Limits by control groups (cgroup v2): the kernel accounts all processes of a render together, and kills them all
 * when they exceed a limit. Needs a delegated subtree:
 *
 * ```
 * the unit's or container's own group      processes may be in leaves only, so
 *   scenepress                             the service moves into one,
 *   render-<pid>-<worker>-<n>              and each zygote's jobs get one: one job at a time
 * ```
 *
 * Without delegation, a service that runs as root creates its own group: `own-cgroup.ts`.
 */
export interface CgroupHome {
  /** The group in which the service may create children; undefined when there is none. */
  folder: string | undefined;
  /** Why there is none. */
  problem: string | undefined;
}

/** Limits of a job including its helper processes. */
export interface CgroupLimits {
  memoryBytes: number;
  processes: number;
}

const run = promisify(execFile);
const SERVICE = 'scenepress';
const JOBS = 'render-';
const CONTROLLERS = ['memory', 'pids'];
/** The helper processes: the job's watcher, and the init process of its namespace. */
const KEEPERS = 2;
const TIMEOUT_MS = 5_000;
/** Maximum passes for moving processes, because they may fork meanwhile. */
const MOVES_MOST = 20;
const DELEGATION_MARKS = ['trusted.delegate', 'user.delegate'];
const READ_MARKS = `
import os, sys
folder, *marks = sys.argv[1:]
given = set(os.listxattr(folder)) & set(marks)
sys.exit(not any(os.getxattr(folder, mark) == b"1" for mark in given))`;

/**
 * Locates the group of this process, and the topmost visible group, from the contents of /proc/self/cgroup and
 * /proc/self/mountinfo.
 */
export function ownGroup(
  cgroup: string,
  mountinfo: string,
): { folder: string; top: string } | { problem: string } {
  const path = /^0::(.*)$/m.exec(cgroup)?.[1];
  if (path === undefined) return { problem: 'this machine has no control groups of version 2' };
  for (const line of mountinfo.split('\n')) {
    const [mount = '', system = ''] = line.split(' - ');
    if (!system.startsWith('cgroup2 ')) continue;
    const [, , , root = '', place = ''] = mount.split(' ').map(unescaped);
    const below = relative(root, path);
    if (below.startsWith('..')) continue; // Mounted from elsewhere in the tree.
    const folder = join(place, below);
    return { folder: basename(folder) === SERVICE ? dirname(folder) : folder, top: place };
  }
  return { problem: 'control groups of version 2 are not mounted, as in most containers' };
}

/** Decodes octal escapes in mount points. */
function unescaped(field: string): string {
  return field.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/**
 * Prepares the group of this process for renders: moves its processes into a leaf and enables the controllers for its
 * children.
 */
export async function openCgroups(root: RendererRoot): Promise<CgroupHome> {
  try {
    const found = ownGroup(
      readFileSync('/proc/self/cgroup', 'utf8'),
      readFileSync('/proc/self/mountinfo', 'utf8'),
    );
    if ('problem' in found) return { folder: undefined, problem: found.problem };
    const problem = await arrange(found.folder, () => isDelegated(found.folder, root));
    if (problem === undefined) {
      shareProcessor(found.folder);
      return { folder: found.folder, problem };
    }
    return process.getuid?.() === 0 ? ownHome(found.top, problem) : { folder: undefined, problem };
  } catch (error) {
    return { folder: undefined, problem: (error as Error).message };
  }
}

function ownHome(top: string, problem: string): CgroupHome {
  try {
    const missing = missingIn(top);
    if (missing) return { folder: undefined, problem: missing };
    const folder = makeOwnGroup(top, CONTROLLERS);
    shareProcessor(folder);
    writeWeight(folder, { background: false });
    return { folder, problem: undefined };
  } catch (error) {
    const reason = (error as Error).message;
    return { folder: undefined, problem: `${problem}, and none could be made for renders (${reason})` };
  }
}

/** Removes the groups created by {@link openCgroups}. Call it after the last render. */
export async function closeCgroups({ folder }: CgroupHome, clock: Clock): Promise<void> {
  if (folder !== undefined) await removeOwnGroup(folder, clock);
}

function missingIn(folder: string): string | undefined {
  const offered = words(join(folder, 'cgroup.controllers'));
  const missing = CONTROLLERS.filter((name) => !offered.includes(name));
  return missing.length > 0
    ? `the group of this process has no controller for ${missing.join(' and ')}`
    : undefined;
}

/** Prepares a group; returns the reason why it cannot be used, or undefined. */
export async function arrange(
  folder: string,
  isDelegated: () => Promise<boolean>,
): Promise<string | undefined> {
  const missing = missingIn(folder);
  if (missing) return missing;
  try {
    for (const name of ['', 'cgroup.procs', 'cgroup.subtree_control'])
      accessSync(join(folder, name), constants.W_OK);
  } catch {
    return "the group of this process can't be written: its systemd unit lacks Delegate=yes";
  }
  // A writable group may still be managed by another program, such as a session manager.
  if (!(await isDelegated())) return 'the systemd unit of this process lacks Delegate=yes';
  removeJobs(folder);
  const enabled = words(join(folder, 'cgroup.subtree_control'));
  if (CONTROLLERS.every((name) => enabled.includes(name))) return undefined;
  // Only the root group, which has no cgroup.events, may have both children and processes.
  if (existsSync(join(folder, 'cgroup.events'))) moveAll(folder, join(folder, SERVICE));
  writeFileSync(join(folder, 'cgroup.subtree_control'), CONTROLLERS.map((name) => `+${name}`).join(' '));
  return undefined;
}

function moveAll(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (let moves = 0; moves < MOVES_MOST; moves++) {
    const pids = words(join(from, 'cgroup.procs'));
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        writeFileSync(join(to, 'cgroup.procs'), pid);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // It has ended.
      }
    }
  }
}

/** Removes groups left by killed services. */
function removeJobs(folder: string): void {
  for (const name of readdirSync(folder).filter((name) => name.startsWith(JOBS))) {
    const [, pid] = name.split('-');
    if (existsSync(`/proc/${pid}`)) continue;
    try {
      rmdirSync(join(folder, name));
    } catch {
      // A process in it is still exiting.
    }
  }
}

/** Whether the group is delegated. In a container without systemd, its own group is. */
async function isDelegated(folder: string, root: RendererRoot): Promise<boolean> {
  if (/^0::\/(scenepress)?$/m.test(readFileSync('/proc/self/cgroup', 'utf8'))) return true;
  return (
    (await isMarked(folder, root)) || (/\/user@\d+\.service\//.test(folder) && (await isUsersUnit(folder)))
  );
}

/** systemd marks delegated groups by extended attributes. */
async function isMarked(folder: string, root: RendererRoot): Promise<boolean> {
  const [command = '', ...args] = startOutside(root, root.python);
  const env = root.tree === undefined ? {} : { PYTHONHOME: onMachine(root, '/usr') };
  // Uses Python, because Node cannot read extended attributes.
  return run(command, [...args, '-S', '-c', READ_MARKS, folder, ...DELEGATION_MARKS], {
    env,
    timeout: TIMEOUT_MS,
  }).then(
    () => true,
    () => false,
  );
}

/** systemd user instances set no marks, but can be queried. */
async function isUsersUnit(folder: string): Promise<boolean> {
  const args = ['--user', 'show', '--property=Delegate', '--value', basename(folder)];
  return run('systemctl', args, { timeout: TIMEOUT_MS }).then(
    ({ stdout }) => stdout.trim() === 'yes',
    () => false,
  );
}

function words(file: string): string[] {
  return readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);
}

/** The group for the jobs of one zygote, which run one at a time. */
export class JobCgroup {
  static #made = 0;
  readonly #folder: string;
  #outOfMemory = 0;
  /**
   * A descriptor of cgroup.procs; writing to it moves a process into the group. Inherited by the zygote, closed in
   * jobs.
   */
  readonly entrance: number;

  private constructor(folder: string) {
    this.#folder = folder;
    this.entrance = openSync(join(folder, 'cgroup.procs'), 'w');
  }

  /** Creates a group below `home`. Throws when the kernel rejects the limits. */
  static make(home: string, worker: number, { memoryBytes, processes }: CgroupLimits): JobCgroup {
    const folder = join(home, `${JOBS}${process.pid}-${worker}-${++JobCgroup.#made}`);
    mkdirSync(folder);
    try {
      writeFileSync(join(folder, 'memory.max'), String(memoryBytes));
      writeFileSync(join(folder, 'memory.oom.group'), '1');
      writeFileSync(join(folder, 'pids.max'), String(processes + KEEPERS));
      writeIfThere(join(folder, 'memory.swap.max'), '0');
      return new JobCgroup(folder);
    } catch (error) {
      rmdirSync(folder);
      throw error;
    }
  }

  /** Sets the CPU weight of the next job. */
  weigh(job: { background: boolean }): void {
    writeWeight(this.#folder, job);
  }

  /** Kills the remaining processes of a job. True when the kernel killed the job for exceeding its memory limit. */
  end(): boolean {
    writeIfThere(join(this.#folder, 'cgroup.kill'), '1');
    const kills = Number(
      /^oom_kill (\d+)$/m.exec(readFileSync(join(this.#folder, 'memory.events'), 'utf8'))?.[1] ?? 0,
    );
    const was = this.#outOfMemory;
    this.#outOfMemory = kills;
    return kills > was;
  }

  /** Closes this process's copy of the descriptor; the zygote has its own. */
  closeEntrance(): void {
    closeSync(this.entrance);
  }

  /** Removes the group. When processes in it are still exiting, the next start removes it. */
  remove(): void {
    try {
      writeIfThere(join(this.#folder, 'cgroup.kill'), '1');
      rmdirSync(this.#folder);
    } catch {
      // See above.
    }
  }
}

/** Not all kernels have all files. */
function writeIfThere(file: string, text: string): void {
  if (existsSync(file)) writeFileSync(file, text);
}
