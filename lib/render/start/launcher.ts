import { type ExecFileException, execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { known } from '../../base/known-options.ts';
import type { Mount } from '../environment/python-environment.ts';
import type { Relocation } from '../environment/relocation.ts';
import {
  findRoot,
  onMachine,
  type RendererRoot,
  type RootView,
  startOutside,
  viewOf,
} from '../environment/renderer-root.ts';
import { type CgroupHome, openCgroups } from '../sandbox/cgroup.ts';
import { SCENE_PLACE, type SceneFolder } from './scene-folder.ts';
import { STUDIO_PLACE, type StudioFolder, studioParts } from './studio.ts';

/** The command that starts a renderer process. */
export interface ZygoteCommandLine {
  command: string;
  args: string[];
  env: Record<string, string>;
}

/** Options of the renderer. */
export interface RendererOptions {
  /** The Python interpreter with Manim; default: that of the setup. */
  python?: string;
  /**
   * An unpacked renderer root, mounted as `/` for renderers, or a function that provides it at start. Overridden by
   * `python`. Default: none.
   */
  root?: string | (() => Promise<string>);
  /** The folder of {@link ensureRenderer}, when there is neither; default: where it sets up by default. */
  folder?: string;
  /**
   * The user id of renders when the service runs as root; worker n gets `uid + n`, what reads sources the next. Default 58000. Otherwise ignored:
   * renders run as the service's user.
   */
  uid?: number;
  /**
   * A renderer process that is silent for this long counts as hung: it is replaced, and its render retried. Default
   * 30 seconds, which tolerates a loaded machine.
   */
  silenceTimeoutMs?: number;
  /**
   * Renders even when the sandbox does not work or fails its check. Default false: the service then refuses to start.
   */
  insecureNoSandbox?: boolean;
  /**
   * Keeps a process that reads sources, for checks with `dryRun: false`: 140 MB while it is used. Default true; without it
   * they reject with `renderer_unavailable`.
   */
  reader?: boolean;
}

/** Error: `invalid_request` for an option of the renderer that does not exist. */
export function checkRenderer(given: RendererOptions = {}): void {
  known('renderer', given, {
    python: true,
    root: true,
    folder: true,
    uid: true,
    silenceTimeoutMs: true,
    insecureNoSandbox: true,
    reader: true,
  });
}

/** Everything that workers need to start zygotes. Plain data, because it is passed to threads. */
export interface Launcher extends RendererRoot {
  /** The studio folder, which scenes can read. */
  studio: StudioFolder | undefined;
  /** The folder of the author's own file; only for renders of a {@link LocalRenderer}. */
  scene: SceneFolder | undefined;
  /** Set when the service runs as root. */
  firstUid: number | undefined;
  silenceTimeoutMs: number;
  insecureNoSandbox: boolean;
  /** With bubblewrap, a zygote sees only the renderer, the studio folder and its own work folder. */
  isolation: 'bubblewrap' | 'none';
  /** Why bubblewrap is not used. */
  isolationProblem: string | undefined;
  /** The control groups for total limits of renders. */
  cgroups: CgroupHome;
  /** Set when the root is a tree that cannot be mounted as `/`. */
  relocation?: Relocation;
}

/** The jobs of a renderer process: scenes of one orientation, the encoding of their frames, or reading sources. */
export type RendererRole = 'landscape' | 'portrait' | 'encoder' | 'reader';

const run = promisify(execFile);
const DEFAULT_UID = 58_000;
const DEFAULT_SILENCE_TIMEOUT_MS = 30_000;
const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin';
/** Tells the renderer, and fontconfig, the location of the studio folder. */
const STUDIO_VARIABLE = 'XDG_DATA_HOME';
const SCENE_FOLDER_VARIABLE = 'SCENEPRESS_SCENE_FOLDER';
const SCENE_FILE_VARIABLE = 'SCENEPRESS_SCENE_FILE';
/** The mount point of the work folder. */
const WORK_PLACE = '/scenepress/work';
const HOST_NAME = 'scenepress';
const DEVICES = ['/dev/null', '/dev/urandom'];
const ZYGOTE_RIGHTS = ['CAP_SYS_ADMIN', 'CAP_SETUID', 'CAP_SETGID'];

/**
 * Locates the renderer and determines how to start it. Error: `renderer_unavailable` when it is missing, or would
 * expose the `closed` folders to scenes.
 */
export async function findLauncher(
  options: RendererOptions,
  studio?: StudioFolder,
  closed: string[] = [],
  scene?: SceneFolder,
): Promise<Launcher> {
  const root = await findRoot(options, closed);
  const launcher: Launcher = {
    ...root,
    cgroups: await openCgroups(root),
    studio,
    scene,
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

/** The command line of a worker's renderer process. `workFolder`: the only writable folder. */
export function zygoteCommandLine(
  found: Launcher,
  worker: { index: number; workFolder: string; role: RendererRole; cgroup: boolean },
): ZygoteCommandLine {
  // Encoding does not need the studio folder, whose parts may be replaced meanwhile, nor that of the scene.
  const launcher = worker.role === 'encoder' ? { ...found, studio: undefined, scene: undefined } : found;
  const { relocation } = launcher;
  const isolated = launcher.isolation === 'bubblewrap';
  const view = viewOf(launcher, isolated);
  const interpreter = relocation ? startOutside(launcher, launcher.python) : [view.python];
  const command = worker.role === 'encoder' ? 'encoder' : 'zygote';
  const python = [...interpreter, '-s', '-P', '-B', '-m', 'scene_renderer', command];
  for (const path of readablePaths(launcher, view)) python.push('--read', path);
  if (worker.role === 'portrait' || worker.role === 'reader') python.push(`--${worker.role}`);
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
      // The font cache; fontconfig warns without one.
      XDG_CACHE_HOME: join(seenWorkFolder(launcher, worker.workFolder), 'cache'),
      PYTHONPATH: relocation ? onMachine(launcher, launcher.packageFolder) : view.packageFolder,
      // The order of a set of strings, and so a pixel here and there, would change from one start to the next.
      PYTHONHASHSEED: '0',
      // A fork has only the forking thread, so OpenBLAS must not start others.
      OPENBLAS_NUM_THREADS: '1',
      ...(launcher.studio && { [STUDIO_VARIABLE]: studioPlace(launcher, launcher.studio) }),
      ...(launcher.scene && sceneVariables(launcher, launcher.scene)),
      ...relocation?.environment,
    },
  };
}

/** The path inside the sandbox of a path in the work folder. */
export function seenInWork(launcher: Launcher, workFolder: string, path: string): string {
  return join(seenWorkFolder(launcher, workFolder), relative(workFolder, path));
}

/** Names that the full sandbox must hide: the host name, and paths of this machine. */
export function hiddenNames(launcher: Launcher, workFolder: string): { paths: string[]; hostName: string } {
  const { tree, environment, packageFolder } = launcher;
  const view = viewOf(launcher, true);
  const seen = [
    WORK_PLACE,
    ...view.mounts.map(({ to }) => to),
    ...materialMounts(launcher).map(({ to }) => to),
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

/** The user id of a worker's renders; undefined: that of the service. */
export function uidOf(launcher: Launcher, workerIndex: number): number | undefined {
  return launcher.firstUid === undefined ? undefined : launcher.firstUid + workerIndex;
}

/** All paths that scene code can read: those of the renderer, and the material of scenes. */
function readablePaths(launcher: Launcher, { mounts, links }: RootView): string[] {
  const material = materialMounts(launcher).map(({ to }) => to);
  if (launcher.relocation) return [launcher.tree as string, ...launcher.relocation.readable, ...material];
  return [...mounts.map(({ to }) => to), ...links.map(({ path }) => path), ...material];
}

/**
 * A fingerprint of the files and folders that renderer processes are started with. When one was replaced, as by an
 * upgrade of packages, the processes can neither see the new one nor mount the old one, and must be restarted.
 */
export function mountsState(launcher: Launcher): string {
  const { mounts, links } = viewOf(launcher, launcher.isolation === 'bubblewrap');
  const known = links.map(({ path, target }) => `${path} ${target}`);
  for (const { from } of [...mounts, ...materialMounts(launcher)]) {
    const status = statSync(from, { throwIfNoEntry: false });
    known.push(`${from} ${status?.dev} ${status?.ino}`);
  }
  return known.join('\n');
}

/** The mounts of the studio folder and of the scene's own folder. */
export function materialMounts(launcher: Launcher): Mount[] {
  const { studio, scene } = launcher;
  const mounts: Mount[] = [];
  if (studio) {
    const place = studioPlace(launcher, studio);
    for (const part of studioParts(studio))
      mounts.push({ from: join(studio.path, part), to: join(place, part) });
  }
  if (scene) mounts.push({ from: scene.path, to: scenePlace(launcher, scene) });
  return mounts;
}

function scenePlace({ isolation }: Launcher, { path }: SceneFolder): string {
  return isolation === 'bubblewrap' ? SCENE_PLACE : path;
}

function sceneVariables(launcher: Launcher, scene: SceneFolder): Record<string, string> {
  return {
    [SCENE_FOLDER_VARIABLE]: scenePlace(launcher, scene),
    ...(scene.file !== null && { [SCENE_FILE_VARIABLE]: scene.file }),
  };
}

function studioPlace({ isolation }: Launcher, { path }: StudioFolder): string {
  return isolation === 'bubblewrap' ? STUDIO_PLACE : path;
}

/**
 * The bubblewrap command with the mounts of the renderer and its work folder. Also works below folders that only root
 * can enter.
 */
function bubblewrap(launcher: Launcher, view: RootView, workFolder?: string): string[] {
  const mounts = [...view.mounts, ...materialMounts(launcher)];
  const writable = workFolder === undefined ? [] : [{ from: workFolder, to: WORK_PLACE }];
  const program = launcher.tree === undefined ? 'bwrap' : '/usr/bin/bwrap';
  const args = [...startOutside(launcher, program), '--die-with-parent', '--new-session', '--as-pid-1'];
  args.push('--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--cap-drop', 'ALL');
  args.push('--hostname', HOST_NAME, '--tmpfs', '/tmp');
  // Created explicitly: parent folders that bubblewrap creates are accessible to root only.
  const places = [...mounts, ...writable].map(({ to }) => to);
  const linked = view.links.map(({ path }) => path);
  const made = ['/dev/shm', '/proc', ...foldersAbove([...places, ...DEVICES, ...linked])];
  for (const folder of made) {
    args.push('--perms', '0755', '--dir', folder);
  }
  for (const { path, target } of view.links) args.push('--symlink', target, path);
  if (launcher.firstUid === undefined) args.push('--proc', '/proc');
  // As root, bubblewrap covers parts of /proc, and the kernel then forbids jobs to mount their own. So the zygote
  // mounts /proc and drops root, and gets only the capabilities for that.
  else for (const right of ZYGOTE_RIGHTS) args.push('--cap-add', right);
  for (const device of DEVICES) args.push('--dev-bind', device, device);
  for (const { from, to } of mounts) args.push('--ro-bind', from, to);
  for (const { from, to } of writable) args.push('--bind', from, to);
  args.push('--remount-ro', '/');
  return args;
}

/** All ancestors of the paths, parents first. */
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
