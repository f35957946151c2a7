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
import { onMachine, type RendererRoot, startOutside } from '../start/renderer-root.ts';
import { shareProcessor, writeWeight } from './cgroup-weight.ts';
import { makeOwnGroup, removeOwnGroup } from './own-cgroup.ts';

/**
 * Limits by control groups, version 2: the kernel counts what all processes of a render use together, and ends them
 * all at once when it is too much. Needs a part of the machine's tree of groups that was given to the service:
 *
 * ```
 * the unit's or container's own group      processes may be in leaves only, so
 *   scenepress                             the service moves into one,
 *   render-<pid>-<worker>-<n>              and each zygote's jobs get one: one job at a time
 * ```
 *
 * Root makes a group of its own where it was given none: `own-cgroup.ts`.
 */
export interface CgroupHome {
  /** The group whose children the service may make; undefined where it has none. */
  folder: string | undefined;
  /** Why it has none. */
  problem: string | undefined;
}

/** What a job and its keepers may use together. */
export interface CgroupLimits {
  memoryBytes: number;
  processes: number;
}

const run = promisify(execFile);
const SERVICE = 'scenepress';
const JOBS = 'render-';
const CONTROLLERS = ['memory', 'pids'];
/** The process that watches the job, and the first of its namespace. */
const KEEPERS = 2;
const TIMEOUT_MS = 5_000;
/** Processes may be born while they are moved. */
const MOVES_MOST = 20;
const DELEGATION_MARKS = ['trusted.delegate', 'user.delegate'];
const READ_MARKS = `
import os, sys
folder, *marks = sys.argv[1:]
given = set(os.listxattr(folder)) & set(marks)
sys.exit(not any(os.getxattr(folder, mark) == b"1" for mark in given))`;

/**
 * Where this process is in the tree of groups, and the highest group that can be seen, by the texts of
 * /proc/self/cgroup and /proc/self/mountinfo.
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

/** Mount points have blanks and the like as octal numbers. */
function unescaped(field: string): string {
  return field.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Arranges the group of this process for renders: moves all that is in it into a leaf and has its children counted. */
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

/** Gives back what {@link openCgroups} has made. After the last render. */
export async function closeCgroups({ folder }: CgroupHome): Promise<void> {
  if (folder !== undefined) await removeOwnGroup(folder);
}

function missingIn(folder: string): string | undefined {
  const offered = words(join(folder, 'cgroup.controllers'));
  const missing = CONTROLLERS.filter((name) => !offered.includes(name));
  return missing.length > 0
    ? `the group of this process has no controller for ${missing.join(' and ')}`
    : undefined;
}

/** The reason why a group can't be used; undefined when it was made ready. */
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
  // What can be written may still be somebody else's to arrange: a shell's, of the session's manager.
  if (!(await isDelegated())) return 'the systemd unit of this process lacks Delegate=yes';
  removeJobs(folder);
  const enabled = words(join(folder, 'cgroup.subtree_control'));
  if (CONTROLLERS.every((name) => enabled.includes(name))) return undefined;
  // The root of all groups, which alone has no events, may have children and processes.
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

/** Removes what killed services have left. */
function removeJobs(folder: string): void {
  for (const name of readdirSync(folder).filter((name) => name.startsWith(JOBS))) {
    const [, pid] = name.split('-');
    if (existsSync(`/proc/${pid}`)) continue;
    try {
      rmdirSync(join(folder, name));
    } catch {
      // Something still dies in it.
    }
  }
}

/** Where systemd doesn't reign, a container's own group is the one to arrange. */
async function isDelegated(folder: string, root: RendererRoot): Promise<boolean> {
  if (/^0::\/(scenepress)?$/m.test(readFileSync('/proc/self/cgroup', 'utf8'))) return true;
  return (
    (await isMarked(folder, root)) || (/\/user@\d+\.service\//.test(folder) && (await isUsersUnit(folder)))
  );
}

/** systemd marks what it has handed over. */
async function isMarked(folder: string, root: RendererRoot): Promise<boolean> {
  const [command = '', ...args] = startOutside(root, root.python);
  const env = root.tree === undefined ? {} : { PYTHONHOME: onMachine(root, '/usr') };
  // Node reads no extended attributes.
  return run(command, [...args, '-S', '-c', READ_MARKS, folder, ...DELEGATION_MARKS], {
    env,
    timeout: TIMEOUT_MS,
  }).then(
    () => true,
    () => false,
  );
}

/** A user's systemd makes no marks, but answers. */
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

/** The group that the jobs of one zygote run in, one after the other. */
export class JobCgroup {
  static #made = 0;
  readonly #folder: string;
  #outOfMemory = 0;
  /** By writing to it, a process moves into the group. The zygote inherits it; jobs are to lose it. */
  readonly entrance: number;

  private constructor(folder: string) {
    this.#folder = folder;
    this.entrance = openSync(join(folder, 'cgroup.procs'), 'w');
  }

  /** Makes one below the service's own. Throws when the kernel doesn't take the limits. */
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

  /** Sets the share of the processor that its next job gets. */
  weigh(job: { background: boolean }): void {
    writeWeight(this.#folder, job);
  }

  /** Kills what may be left of a job. True when the kernel has ended the job because of its memory. */
  end(): boolean {
    writeIfThere(join(this.#folder, 'cgroup.kill'), '1');
    const kills = Number(
      /^oom_kill (\d+)$/m.exec(readFileSync(join(this.#folder, 'memory.events'), 'utf8'))?.[1] ?? 0,
    );
    const was = this.#outOfMemory;
    this.#outOfMemory = kills;
    return kills > was;
  }

  /** Closes the way in. The zygote has its own. */
  closeEntrance(): void {
    closeSync(this.entrance);
  }

  /** Removes the group. What dies in it may take a moment to be gone: then the next start removes it. */
  remove(): void {
    try {
      writeIfThere(join(this.#folder, 'cgroup.kill'), '1');
      rmdirSync(this.#folder);
    } catch {
      // See above.
    }
  }
}

/** Not every kernel has every file. */
function writeIfThere(file: string, text: string): void {
  if (existsSync(file)) writeFileSync(file, text);
}
