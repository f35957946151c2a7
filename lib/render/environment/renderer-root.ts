import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ScenepressError } from '../../base/errors.ts';
import { checkMachine } from './machine.ts';
import {
  environmentFiles,
  environmentOf,
  type Link,
  type Mount,
  type PythonEnvironment,
  pythonOf,
} from './python-environment.ts';
import { findRenderer, packageRoot, rendererFolder } from './renderer-folder.ts';

/**
 * The renderer's files: Python with Manim, TeX and fonts. Either a Python environment plus parts of this machine's
 * system, or an unpacked tree that is mounted as `/`.
 */
export interface RendererRoot {
  /** The unpacked tree; undefined: this machine's system. */
  tree: string | undefined;
  /** The environment with Manim; undefined: Manim is in the tree. */
  environment: PythonEnvironment | undefined;
  /** The interpreter with Manim: its path in the tree, or else on this machine. */
  python: string;
  /** The folder of the Python package `scene_renderer`: its path in the tree, or else on this machine. */
  packageFolder: string;
}

/** System paths that Python, fontconfig and TeX read; missing ones are skipped. */
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
/** On a merged-usr system these are links into /usr. */
const ROOT_FOLDERS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
// Not /lib64/ld-linux-x86-64.so.2: an absolute link would resolve to this machine's loader.
const LIBRARIES = '/usr/lib/x86_64-linux-gnu';
const LOADER = `${LIBRARIES}/ld-linux-x86-64.so.2`;
// Not all of /var, which may contain the service's data.
const TREE_FOLDERS = ['/etc', '/usr', '/var/cache/fontconfig', '/var/lib/texmf'];
/** The mount point of the package when there is no tree and this machine's paths are hidden. */
const PACKAGE_PLACE = '/scenepress/renderer';
const PACKAGE = 'scene_renderer';
const TREE_PYTHON = '/usr/bin/python3';
const TREE_PACKAGE = '/usr/lib/scenepress';

/**
 * Locates the tree, or the environment of the given interpreter. Error: `renderer_unavailable` when it is missing,
 * would expose files to scenes, such as the `closed` folders, or can't run on this machine.
 */
export async function findRoot(
  { root, python, folder }: { root?: string | (() => Promise<string>); python?: string; folder?: string },
  closed: string[] = [],
): Promise<RendererRoot> {
  checkMachine();
  const named = python || (root === undefined && process.env['SCENEPRESS_PYTHON']);
  if (named) return environmentRoot(named, closed);
  if (root !== undefined) return treeRoot(typeof root === 'string' ? root : await root());
  // In a checkout.
  const beside = join(packageRoot(), '.venv', 'bin', 'python');
  if (folder === undefined && existsSync(beside)) return environmentRoot(beside, closed);
  const shared = folder === undefined ? rendererFolder() : resolve(folder);
  const found = await findRenderer(shared);
  if (found) return 'root' in found ? treeRoot(found.root) : environmentRoot(found.python, closed);
  throw new ScenepressError(
    'renderer_unavailable',
    `There is no renderer of this version in ${shared}. Set it up with \`npx scenepress setup\` or ensureRenderer(), or ` +
      'name a Python environment with Manim (SCENEPRESS_PYTHON).',
  );
}

function treeRoot(tree: string): RendererRoot {
  const found = {
    tree: resolve(tree),
    environment: undefined,
    python: TREE_PYTHON,
    packageFolder: TREE_PACKAGE,
  };
  if (!existsSync(onMachine(found, LOADER)) || !existsSync(onMachine(found, TREE_PACKAGE))) {
    throw new ScenepressError('renderer_unavailable', `There is no renderer root in ${found.tree}.`);
  }
  return found;
}

function environmentRoot(python: string, closed: string[]): RendererRoot {
  if (!existsSync(python)) {
    throw new ScenepressError(
      'renderer_unavailable',
      `There is no Python environment with Manim at ${python}. Name another interpreter (SCENEPRESS_PYTHON), or leave it ` +
        'unset to use the default one.',
    );
  }
  const environment = environmentOf(python, closed);
  return {
    tree: undefined,
    environment,
    python: environment.python,
    packageFolder: join(packageRoot(), 'renderer'),
  };
}

/** The path on this machine of a path in the root. */
export function onMachine({ tree }: RendererRoot, path: string): string {
  return tree === undefined ? path : join(tree, path);
}

/** The command to start a program of the root outside the sandbox, with the root's loader and libraries. */
export function startOutside(root: RendererRoot, program: string): string[] {
  if (root.tree === undefined) return [program];
  return [onMachine(root, LOADER), '--library-path', librariesOf(root), onMachine(root, program)];
}

export function loaderOf(root: RendererRoot): string {
  return onMachine(root, LOADER);
}

export function librariesOf(root: RendererRoot): string {
  return onMachine(root, LIBRARIES);
}

/** The paths of a root inside the sandbox. `hidden`: avoids this machine's paths where possible. */
export interface RootView {
  python: string;
  packageFolder: string;
  mounts: Mount[];
  links: Link[];
}

/** The mounts and links of the root; missing files are skipped. */
export function viewOf(root: RendererRoot, hidden: boolean): RootView {
  const { tree, environment, python, packageFolder } = root;
  const links = ROOT_FOLDERS.filter((path) => isLink(onMachine(root, path))).map((path) => ({
    path,
    target: readlinkSync(onMachine(root, path)),
  }));
  if (tree !== undefined || environment === undefined) {
    return { python, packageFolder, mounts: present(TREE_FOLDERS.map((to) => at(root, to))), links };
  }
  const packagePlace = hidden ? PACKAGE_PLACE : packageFolder;
  const system = ['/usr', ...ROOT_FOLDERS.filter((path) => !isLink(path)), ...SYSTEM_FILES];
  const files = environmentFiles(environment, hidden);
  return {
    python: pythonOf(environment, hidden),
    packageFolder: packagePlace,
    mounts: present([
      ...system.map((to) => at(root, to)),
      ...files.mounts,
      { from: join(packageFolder, PACKAGE), to: join(packagePlace, PACKAGE) },
    ]),
    links: [...links, ...files.links],
  };
}

function at(root: RendererRoot, to: string): Mount {
  return { from: onMachine(root, to), to };
}

function present(mounts: Mount[]): Mount[] {
  return mounts.filter(({ from }) => existsSync(from));
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}
