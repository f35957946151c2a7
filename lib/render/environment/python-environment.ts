import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { ScenepressError } from '../../base/errors.ts';
import { homeFolder } from '../../files/home-folder.ts';

/** A symbolic link. */
export interface Link {
  path: string;
  target: string;
}

/** A file or folder of this machine, and its path in the sandbox. */
export interface Mount {
  from: string;
  to: string;
}

/**
 * A Python environment outside /usr. Only the parts that Python reads are visible to renderers, never the whole
 * folder: a misconfigured path would expose everything in it.
 */
export interface PythonEnvironment {
  /** The interpreter, as given. */
  python: string;
  /** The parent of the interpreter's folder; undefined: in /usr, which is visible to renderers anyway. */
  prefix: string | undefined;
  /** Whether it has a `pyvenv.cfg` and can be mounted anywhere. */
  isVirtual: boolean;
  /** The environments it is based on, outside /usr. Their libraries may contain absolute paths. */
  bases: string[];
  /** A replacement for `pyvenv.cfg`; undefined: the original, which contains its original path. */
  settingsFile?: string;
}

/** The mount point of a relocatable environment. */
const PLACE = '/scenepress/python';
const PARTS = ['bin', 'lib', 'lib64', 'include', 'share'];
/** The parts of an environment that are needed without starting its programs. */
const LIBRARIES = ['lib', 'lib64', 'share'];
const SETTINGS = 'pyvenv.cfg';
const KEPT_SETTINGS = /^(home|include-system-site-packages|version|version_info)\s*=.*$/gm;
const SHARED_FOLDERS = [
  ...['/', '/bin', '/boot', '/dev', '/etc', '/home', '/lib', '/lib64', '/media', '/mnt', '/opt', '/proc'],
  ...['/root', '/run', '/sbin', '/srv', '/sys', '/tmp', '/usr', '/var', '/var/lib', '/var/tmp'],
];
const ADVICE =
  'Create a separate environment with `npx scenepress setup`, or with `python3 -m venv FOLDER`, and name its ' +
  'bin/python with SCENEPRESS_PYTHON.';

/**
 * The environment of an interpreter. Error: `renderer_unavailable` when it would expose other files to scenes.
 * `closed`: folders that must not be inside it.
 */
export function environmentOf(python: string, closed: string[]): PythonEnvironment {
  const prefix = prefixOf(dirname(resolve(python)));
  const bases = new Set<string>();
  addBases(resolve(python), bases);
  bases.delete(prefix);
  for (const folder of [prefix, ...bases]) if (!isInSystem(folder)) assertEnvironment(folder, python, closed);
  return {
    python: resolve(python),
    prefix: isInSystem(prefix) ? undefined : prefix,
    isVirtual: existsSync(join(prefix, SETTINGS)),
    bases: [...bases].filter((folder) => !isInSystem(folder)),
  };
}

/** Adds the link targets of an interpreter and its base environments, recursively. */
function addBases(python: string, bases: Set<string>): void {
  const found = [prefixOf(dirname(realpathSync(python)))];
  const settings = join(dirname(dirname(python)), SETTINGS);
  const home = existsSync(settings) && /^home\s*=\s*(.+)$/m.exec(readFileSync(settings, 'utf8'))?.[1]?.trim();
  if (home) found.push(prefixOf(resolve(home)));
  for (const base of found) {
    if (bases.has(base)) continue;
    bases.add(base);
    const further = join(base, 'bin', 'python');
    if (existsSync(further)) addBases(further, bases);
  }
}

/** The parent of an interpreter's folder. On merged-usr systems, /bin is a link into /usr. */
function prefixOf(folder: string): string {
  return isInSystem(real(folder)) ? '/usr' : dirname(folder);
}

function isInSystem(folder: string): boolean {
  return `${folder}/`.startsWith('/usr/');
}

function assertEnvironment(folder: string, python: string, closed: string[]): void {
  const problem = problemOf(folder, closed);
  if (!problem) return;
  throw new ScenepressError(
    'renderer_unavailable',
    `The interpreter ${python} can't be used: ${folder} ${problem}, and scenes could read it. ${ADVICE}`,
  );
}

function problemOf(folder: string, closed: string[]): string | undefined {
  const names = new Set([folder, existsSync(folder) ? realpathSync(folder) : folder]);
  for (const name of names) {
    if (SHARED_FOLDERS.includes(name)) return 'is a system folder';
    if (isHome(name)) return 'is a home folder';
    if (closed.some((path) => isBelow(real(path), name))) return "holds the service's data";
  }
  if (!existsSync(join(folder, SETTINGS)) && !hasLibraries(folder)) {
    return `is not a Python environment (it has neither ${SETTINGS} nor lib/python3.*)`;
  }
  return undefined;
}

function isHome(folder: string): boolean {
  return dirname(folder) === '/home' || folder === homeFolder() || usersHomes().includes(folder);
}

function usersHomes(): string[] {
  const users = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : [];
  return users.flatMap((line) => line.split(':')[5] ?? []).map((home) => resolve('/', home));
}

function hasLibraries(folder: string): boolean {
  const libraries = join(folder, 'lib');
  return existsSync(libraries) && readdirSync(libraries).some((name) => /^python3(\.\d+)?$/.test(name));
}

/** Resolves links in the existing part of a path. */
function real(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(real(dirname(path)), relative(dirname(path), path));
}

function isBelow(path: string, folder: string): boolean {
  return `${path}/`.startsWith(`${folder}/`);
}

/** The settings of `pyvenv.cfg` that Python needs, without the environment's original path and command. */
export function plainSettings({ prefix }: PythonEnvironment): string {
  const settings = readFileSync(join(prefix ?? '/', SETTINGS), 'utf8');
  return `${(settings.match(KEPT_SETTINGS) ?? []).join('\n')}\n`;
}

/** The interpreter's path for renderers. `hidden`: a relocatable environment is mounted at a fixed path. */
export function pythonOf({ python, prefix, isVirtual }: PythonEnvironment, hidden: boolean): string {
  return hidden && prefix !== undefined && isVirtual ? join(PLACE, 'bin', 'python') : python;
}

/** The mounts and links of an environment. */
export function environmentFiles(
  environment: PythonEnvironment,
  hidden: boolean,
): { mounts: Mount[]; links: Link[] } {
  const { python, prefix, isVirtual, bases, settingsFile } = environment;
  const found = bases.map((base) => partsOf(base, base, [...PARTS, SETTINGS]));
  if (prefix !== undefined && !(hidden && isVirtual))
    found.push(partsOf(prefix, prefix, [...PARTS, SETTINGS]));
  if (prefix !== undefined && hidden && isVirtual) {
    found.push(partsOf(prefix, PLACE, LIBRARIES));
    found.push({
      mounts: [{ from: settingsFile ?? join(prefix, SETTINGS), to: join(PLACE, SETTINGS) }],
      links: [],
    });
    const interpreter = realpathSync(python);
    const to = pythonOf(environment, hidden);
    const isOwn = isBelow(interpreter, prefix);
    found.push(
      isOwn
        ? { mounts: [{ from: interpreter, to }], links: [] }
        : { mounts: [], links: [{ path: to, target: interpreter }] },
    );
  }
  return { mounts: found.flatMap(({ mounts }) => mounts), links: found.flatMap(({ links }) => links) };
}

function partsOf(prefix: string, place: string, names: string[]): { mounts: Mount[]; links: Link[] } {
  const mounts: Mount[] = [];
  const links: Link[] = [];
  for (const name of names) {
    const from = join(prefix, name);
    const status = lstatSync(from, { throwIfNoEntry: false });
    const target = status?.isSymbolicLink() ? readlinkSync(from) : undefined;
    // Such as lib64 to lib. Other links are ignored.
    if (target !== undefined && PARTS.includes(target)) links.push({ path: join(place, name), target });
    else if (target === undefined && status) mounts.push({ from, to: join(place, name) });
  }
  return { mounts, links };
}
