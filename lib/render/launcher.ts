import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ScenepressError } from '../errors.ts';
import type { ZygoteCommandLine } from './zygote.ts';

/** Where the renderer is and as whom it runs. */
export interface RendererOptions {
  /** The Python interpreter that has Manim; default: the one that the set-up made. */
  python?: string;
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
export interface Launcher {
  python: string;
  /** The folder that holds the Python package. */
  packageFolder: string;
  /** Set when the service is root. */
  firstUid: number | undefined;
  silenceTimeoutMs: number;
  insecureNoSandbox: boolean;
  /** With bubblewrap, a zygote sees the renderer and its own work folder and nothing else of this machine. */
  isolation: 'bubblewrap' | 'none';
  /** Why bubblewrap isn't used. */
  isolationProblem: string | undefined;
}

const run = promisify(execFile);
const DEFAULT_UID = 58_000;
const DEFAULT_SILENCE_TIMEOUT_MS = 30_000;
const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin';
/** Parts of the system that Python, fontconfig and TeX read; what isn't there is left out. */
const SYSTEM_FILES = [
  '/etc/alternatives',
  '/etc/fonts',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/texmf',
  '/opt/texlive',
  '/var/cache/fontconfig',
  '/var/lib/texmf',
];
const DEVICES = ['/dev/null', '/dev/urandom'];
const ZYGOTE_RIGHTS = ['CAP_SYS_ADMIN', 'CAP_SETUID', 'CAP_SETGID'];
/** On a merged-usr system these are links into /usr. */
const ROOT_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** Finds the renderer and tries how it can be started here; `renderer_unavailable` when it isn't there at all. */
export async function findLauncher(options: RendererOptions): Promise<Launcher> {
  const root = packageRoot();
  const python = options.python ?? (process.env['SCENEPRESS_PYTHON'] || join(root, '.venv', 'bin', 'python'));
  if (!existsSync(python)) {
    throw new ScenepressError(
      'renderer_unavailable',
      `There is no Python environment with Manim at ${python}. Make it with \`npx scenepress setup\`, ` +
        'or name another one with SCENEPRESS_PYTHON.',
    );
  }
  const launcher: Launcher = {
    python: resolve(python),
    packageFolder: join(root, 'renderer'),
    firstUid: process.getuid?.() === 0 ? (options.uid ?? DEFAULT_UID) : undefined,
    silenceTimeoutMs: options.silenceTimeoutMs ?? DEFAULT_SILENCE_TIMEOUT_MS,
    insecureNoSandbox: options.insecureNoSandbox ?? false,
    isolation: 'bubblewrap',
    isolationProblem: undefined,
  };
  try {
    const [command, ...args] = [...bubblewrap(launcher, []), 'true'];
    await run(command as string, args);
  } catch (error) {
    launcher.isolation = 'none';
    launcher.isolationProblem = problemOf(error as NodeJS.ErrnoException & { stderr?: string });
  }
  return launcher;
}

/** The command line of a worker's zygote. `workFolder`: the only place that it may write to. */
export function zygoteCommandLine(
  launcher: Launcher,
  worker: { index: number; workFolder: string; portrait: boolean },
): ZygoteCommandLine {
  const python = [launcher.python, '-s', '-P', '-B', '-m', 'scene_renderer', 'zygote'];
  for (const path of readablePaths(launcher)) python.push('--read', path);
  if (worker.portrait) python.push('--portrait');
  const uid = uidOf(launcher, worker.index);
  const isolated = launcher.isolation === 'bubblewrap';
  if (uid !== undefined) python.push('--uid', String(uid), ...(isolated ? ['--mount-proc'] : []));
  const [command, ...args] = isolated ? [...bubblewrap(launcher, [worker.workFolder]), ...python] : python;
  return {
    command: command as string,
    args,
    env: {
      PATH: PROGRAM_PATH,
      LANG: 'C.UTF-8',
      HOME: '/nonexistent',
      PYTHONPATH: launcher.packageFolder,
      // A fork takes only the thread that forks with it; OpenBLAS would have started others.
      OPENBLAS_NUM_THREADS: '1',
    },
  };
}

/** The user id that a worker's renders run under; undefined: the service's own. */
export function uidOf(launcher: Launcher, workerIndex: number): number | undefined {
  return launcher.firstUid === undefined ? undefined : launcher.firstUid + workerIndex;
}

/** What the renderer is made of: all that scene code may read of this machine. */
function readablePaths(launcher: Launcher): string[] {
  return ['/usr', ...ROOT_FOLDERS, ...SYSTEM_FILES, ...rendererFolders(launcher)].filter((path) =>
    existsSync(path),
  );
}

function rendererFolders(launcher: Launcher): string[] {
  return [...pythonFolders(launcher.python), launcher.packageFolder];
}

/**
 * bubblewrap with a root made of the system's programs, the Python environment and the writable folders, each at
 * the path that it has outside. It works below folders that only root can enter, too: their names are made anew.
 */
function bubblewrap(launcher: Launcher, writable: string[]): string[] {
  const readable = rendererFolders(launcher);
  const args = ['bwrap', '--die-with-parent', '--new-session', '--as-pid-1'];
  args.push('--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--cap-drop', 'ALL');
  args.push('--tmpfs', '/tmp', '--ro-bind', '/usr', '/usr');
  // Made by itself, bubblewrap lets only root into the folders above a mount.
  const made = [
    '/dev/shm',
    '/proc',
    ...foldersAbove([...SYSTEM_FILES, ...DEVICES, ...readable, ...writable]),
  ];
  for (const folder of made) {
    args.push('--perms', '0755', '--dir', folder);
  }
  for (const folder of ROOT_FOLDERS) {
    if (!existsSync(folder)) continue;
    if (lstatSync(folder).isSymbolicLink()) args.push('--symlink', readlinkSync(folder), folder);
    else args.push('--ro-bind', folder, folder);
  }
  if (launcher.firstUid === undefined) args.push('--proc', '/proc');
  // As root, bubblewrap covers parts of /proc, and the kernel then forbids jobs a /proc of their own. So the zygote
  // mounts it and gives up being root, for which it gets the rights, and no others.
  else for (const right of ZYGOTE_RIGHTS) args.push('--cap-add', right);
  for (const device of DEVICES) args.push('--dev-bind', device, device);
  for (const path of SYSTEM_FILES) args.push('--ro-bind-try', path, path);
  for (const path of readable) args.push('--ro-bind', path, path);
  for (const path of writable) args.push('--bind', path, path);
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

/** The environment's folder and, when it isn't below /usr, that of the Python it was made from. */
function pythonFolders(python: string): string[] {
  const environment = dirname(dirname(python));
  const folders = [environment];
  const settings = join(environment, 'pyvenv.cfg');
  const home = existsSync(settings)
    ? /^home\s*=\s*(.+)$/m.exec(readFileSync(settings, 'utf8'))?.[1]
    : undefined;
  for (const folder of [home && dirname(home.trim()), dirname(dirname(realpathSync(python)))]) {
    if (folder && !folder.startsWith('/usr') && !folders.includes(folder)) folders.push(folder);
  }
  return folders.filter((folder) => !folder.startsWith('/usr'));
}

/** The folder of package.json, whether this file runs from source or from `dist`. */
function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'renderer', 'scene_renderer'))) {
    const parent = dirname(folder);
    if (parent === folder) {
      throw new ScenepressError(
        'renderer_unavailable',
        'The Python package of the renderer is missing from this installation. Install Scenepress again.',
      );
    }
    folder = parent;
  }
  return folder;
}

function problemOf(error: NodeJS.ErrnoException & { stderr?: string }): string {
  if (error.code === 'ENOENT') return 'bubblewrap (the program bwrap) is not installed';
  return error.stderr?.trim().split('\n').at(-1) || error.message;
}
