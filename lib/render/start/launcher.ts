import { type ExecFileException, execFile } from 'node:child_process';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { type CgroupHome, openCgroups } from '../sandbox/cgroup.ts';
import type { Relocation } from './relocation.ts';
import {
  findRoot,
  type Mount,
  onMachine,
  type RendererRoot,
  type RootView,
  startOutside,
  viewOf,
} from './renderer-root.ts';
import { STUDIO_PLACE, type StudioFolder, studioParts } from './studio.ts';
import type { ZygoteCommandLine } from './zygote.ts';

/** Where the renderer is and as whom it runs. */
export interface RendererOptions {
  /** The Python interpreter that has Manim; default: the one that the set-up made. */
  python?: string;
  /**
   * An unpacked renderer root, which renderers then see as `/`, or what is asked for it when the service starts; `python`
   * wins over it. Default: none.
   */
  root?: string | (() => Promise<string>);
  /**
   * The user id that renders run under when the service is root; worker number n gets `uid + n`. Default 58000.
   * Ignored otherwise: then they run as the service's own user.
   */
  uid?: number;
  /**
   * A renderer process that says nothing for this long hangs: it is replaced, and its render attempted again.
   * Default 30 seconds, which is generous: a loaded machine is slow, not dead.
   */
  silenceTimeoutMs?: number;
  /**
   * Renders even where scene code can't be kept in a sandbox, or breaks out of it. Default false: then the service
   * doesn't start there.
   */
  insecureNoSandbox?: boolean;
}

/** Everything that the workers need to know to start zygotes. Plain data: it is handed to threads. */
export interface Launcher extends RendererRoot {
  /** The studio's own material, which scenes may read. */
  studio: StudioFolder | undefined;
  /** Set when the service is root. */
  firstUid: number | undefined;
  silenceTimeoutMs: number;
  insecureNoSandbox: boolean;
  /** With bubblewrap, a zygote sees the renderer and its own work folder and nothing else of this machine. */
  isolation: 'bubblewrap' | 'none';
  /** Why bubblewrap isn't used. */
  isolationProblem: string | undefined;
  /** Where the kernel can limit what all processes of a render use together. */
  cgroups: CgroupHome;
  /** Set where the root is a tree and can't be seen as `/`. */
  relocation?: Relocation;
}

/** What a renderer process forks jobs for: scenes of one orientation, or looks at what they leave. */
export type RendererRole = 'landscape' | 'portrait' | 'inspector';

const run = promisify(execFile);
const DEFAULT_UID = 58_000;
const DEFAULT_SILENCE_TIMEOUT_MS = 30_000;
const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin';
/** The renderer finds the studio's folder by it; so does fontconfig, for which it is a user's own data. */
const STUDIO_VARIABLE = 'XDG_DATA_HOME';
/** Where renderers see the folder that they work in. */
const WORK_PLACE = '/scenepress/work';
const HOST_NAME = 'scenepress';
const DEVICES = ['/dev/null', '/dev/urandom'];
const ZYGOTE_RIGHTS = ['CAP_SYS_ADMIN', 'CAP_SETUID', 'CAP_SETGID'];

/**
 * Finds the renderer and tries how it can be started here; `renderer_unavailable` when it isn't there at all, or would
 * show scenes what is in the `closed` folders.
 */
export async function findLauncher(
  options: RendererOptions,
  studio?: StudioFolder,
  closed: string[] = [],
): Promise<Launcher> {
  const root = await findRoot(options, closed);
  const launcher: Launcher = {
    ...root,
    cgroups: await openCgroups(root),
    studio,
    firstUid: process.getuid?.() === 0 ? (options.uid ?? DEFAULT_UID) : undefined,
    silenceTimeoutMs: options.silenceTimeoutMs ?? DEFAULT_SILENCE_TIMEOUT_MS,
    insecureNoSandbox: options.insecureNoSandbox ?? false,
    isolation: 'bubblewrap',
    isolationProblem: undefined,
  };
  try {
    const [command, ...args] = [...bubblewrap(launcher, viewOf(launcher, true)), 'true'];
    await run(command as string, args);
  } catch (error) {
    launcher.isolation = 'none';
    launcher.isolationProblem = problemOf(error as ExecFileException & { stderr?: string });
  }
  return launcher;
}

/** The command line of a renderer process of a worker. `workFolder`: the only place that it may write to. */
export function zygoteCommandLine(
  found: Launcher,
  worker: { index: number; workFolder: string; role: RendererRole; cgroup: boolean },
): ZygoteCommandLine {
  // An inspection needs nothing of the studio's, whose folders may be replaced by others of the same names.
  const launcher = worker.role === 'inspector' ? { ...found, studio: undefined } : found;
  const { relocation } = launcher;
  const isolated = launcher.isolation === 'bubblewrap';
  const view = viewOf(launcher, isolated);
  const interpreter = relocation ? startOutside(launcher, launcher.python) : [view.python];
  const command = worker.role === 'inspector' ? 'inspector' : 'zygote';
  const python = [...interpreter, '-s', '-P', '-B', '-m', 'scene_renderer', command];
  for (const path of readablePaths(launcher, view)) python.push('--read', path);
  if (worker.role === 'portrait') python.push('--portrait');
  if (worker.cgroup) python.push('--cgroup');
  const uid = uidOf(launcher, worker.index);
  if (uid !== undefined) python.push('--uid', String(uid), ...(isolated ? ['--mount-proc'] : []));
  const [program, ...args] = isolated
    ? [...bubblewrap(launcher, view, worker.workFolder), ...python]
    : python;
  return {
    command: program as string,
    args,
    env: {
      PATH: PROGRAM_PATH,
      LANG: 'C.UTF-8',
      HOME: '/nonexistent',
      // Where fontconfig keeps what it finds in the studio's fonts; without one it complains.
      XDG_CACHE_HOME: join(seenWorkFolder(launcher, worker.workFolder), 'cache'),
      PYTHONPATH: relocation ? onMachine(launcher, launcher.packageFolder) : view.packageFolder,
      // A fork takes only the thread that forks with it; OpenBLAS would have started others.
      OPENBLAS_NUM_THREADS: '1',
      ...(launcher.studio && { [STUDIO_VARIABLE]: studioPlace(launcher, launcher.studio) }),
      ...relocation?.environment,
    },
  };
}

/** Where a renderer process sees a path in the folder that it works in. */
export function seenInWork(launcher: Launcher, workFolder: string, path: string): string {
  return join(seenWorkFolder(launcher, workFolder), relative(workFolder, path));
}

/** What scenes must see nowhere, where no layer is missing: the machine's name, and paths of it. */
export function hiddenNames(launcher: Launcher, workFolder: string): { paths: string[]; hostName: string } {
  const { tree, environment, packageFolder } = launcher;
  const view = viewOf(launcher, true);
  const seen = [
    WORK_PLACE,
    ...view.mounts.map(({ to }) => to),
    ...studioMounts(launcher).map(({ to }) => to),
  ];
  const paths = [workFolder, tree ?? packageFolder, environment?.prefix].filter((path) => path !== undefined);
  return {
    paths: paths.filter((path) => !seen.some((place) => place.startsWith(path))),
    hostName: HOST_NAME,
  };
}

function seenWorkFolder({ isolation }: Launcher, workFolder: string): string {
  return isolation === 'bubblewrap' ? WORK_PLACE : workFolder;
}

/** The user id that a worker's renders run under; undefined: the service's own. */
export function uidOf(launcher: Launcher, workerIndex: number): number | undefined {
  return launcher.firstUid === undefined ? undefined : launcher.firstUid + workerIndex;
}

/** All that scene code may read of this machine: what the renderer is made of, and what is the studio's. */
function readablePaths(launcher: Launcher, { mounts, links }: RootView): string[] {
  const studio = studioMounts(launcher).map(({ to }) => to);
  if (launcher.relocation) return [launcher.tree as string, ...launcher.relocation.readable, ...studio];
  return [...mounts.map(({ to }) => to), ...links.map(({ path }) => path), ...studio];
}

/** The parts of the studio's folder, and where scenes see them. */
export function studioMounts(launcher: Launcher): Mount[] {
  const { studio } = launcher;
  if (!studio) return [];
  const place = studioPlace(launcher, studio);
  return studioParts(studio).map((part) => ({ from: join(studio.path, part), to: join(place, part) }));
}

function studioPlace({ isolation }: Launcher, { path }: StudioFolder): string {
  return isolation === 'bubblewrap' ? STUDIO_PLACE : path;
}

/**
 * bubblewrap with what the renderer is made of and the folder that it works in. It works below folders that only root
 * can enter, too.
 */
function bubblewrap(launcher: Launcher, view: RootView, workFolder?: string): string[] {
  const mounts = [...view.mounts, ...studioMounts(launcher)];
  const writable = workFolder === undefined ? [] : [{ from: workFolder, to: WORK_PLACE }];
  const program = launcher.tree === undefined ? 'bwrap' : '/usr/bin/bwrap';
  const args = [...startOutside(launcher, program), '--die-with-parent', '--new-session', '--as-pid-1'];
  args.push('--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--cap-drop', 'ALL');
  args.push('--hostname', HOST_NAME, '--tmpfs', '/tmp');
  // Made by itself, bubblewrap lets only root into the folders above a mount.
  const places = [...mounts, ...writable].map(({ to }) => to);
  const linked = view.links.map(({ path }) => path);
  const made = ['/dev/shm', '/proc', ...foldersAbove([...places, ...DEVICES, ...linked])];
  for (const folder of made) {
    args.push('--perms', '0755', '--dir', folder);
  }
  for (const { path, target } of view.links) args.push('--symlink', target, path);
  if (launcher.firstUid === undefined) args.push('--proc', '/proc');
  // As root, bubblewrap covers parts of /proc, and the kernel then forbids jobs a /proc of their own. So the zygote
  // mounts it and gives up being root, for which it gets the rights, and no others.
  else for (const right of ZYGOTE_RIGHTS) args.push('--cap-add', right);
  for (const device of DEVICES) args.push('--dev-bind', device, device);
  for (const { from, to } of mounts) args.push('--ro-bind', from, to);
  for (const { from, to } of writable) args.push('--bind', from, to);
  args.push('--remount-ro', '/');
  return args;
}

/** Every folder on the way to the paths, each before those below it. */
function foldersAbove(paths: string[]): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].sort();
}

function problemOf(error: ExecFileException & { stderr?: string }): string {
  if (error.code === 'ENOENT') return 'bubblewrap (the program bwrap) is not installed';
  const said = error.stderr?.trim().split('\n').at(-1);
  return said || `bubblewrap ended with ${error.signal ?? `status ${error.code}`}`;
}
