import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ScenepressError } from '../../errors.ts';
import { environmentFiles, environmentOf, type PythonEnvironment, pythonOf } from './python-environment.ts';

/**
 * All that renders: Python with Manim, TeX and fonts. Either a Python environment with parts of this machine's own
 * system around it, or an unpacked tree that renderers see as `/`.
 */
export interface RendererRoot {
  /** The unpacked tree; undefined: this machine's own system. */
  tree: string | undefined;
  /** The environment that has Manim; undefined: the tree has it. */
  environment: PythonEnvironment | undefined;
  /** The interpreter that has Manim: in the tree, or else on this machine. */
  python: string;
  /** The folder of the Python package `scene_renderer`: in the tree, or else on this machine. */
  packageFolder: string;
}

/** A link, and what it says. */
export interface Link {
  path: string;
  target: string;
}

/** A file or folder of this machine, and where renderers see it. */
export interface Mount {
  from: string;
  to: string;
}

/** Parts of a system that Python, fontconfig and TeX read; what isn't there is left out. */
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
// The link /lib64/ld-linux-x86-64.so.2 may be absolute, and would then be the machine's own loader.
const LIBRARIES = '/usr/lib/x86_64-linux-gnu';
const LOADER = `${LIBRARIES}/ld-linux-x86-64.so.2`;
// Not all of /var: the service's data may lie there, and has its own place in the root.
const TREE_FOLDERS = ['/etc', '/usr', '/var/cache/fontconfig', '/var/lib/texmf'];
/** Where renderers see the package when it isn't in a tree, and nothing of this machine's paths is shown. */
const PACKAGE_PLACE = '/scenepress/renderer';
const PACKAGE = 'scene_renderer';
const TREE_PYTHON = '/usr/bin/python3';
const TREE_PACKAGE = '/usr/lib/scenepress';

/**
 * The tree, or else the environment of the given interpreter; `renderer_unavailable` when it isn't there, or holds what
 * scenes must not see, as the `closed` folders.
 */
export async function findRoot(
  { root, python }: { root?: string | (() => Promise<string>); python?: string },
  closed: string[] = [],
): Promise<RendererRoot> {
  if (root === undefined || python) return environmentRoot(python, closed);
  const tree = typeof root === 'string' ? root : await root();
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

function environmentRoot(chosen: string | undefined, closed: string[]): RendererRoot {
  const folder = packageRoot();
  const named = chosen ?? process.env['SCENEPRESS_PYTHON'];
  const python = named || join(folder, '.venv', 'bin', 'python');
  if (!existsSync(python)) {
    const remedy = named
      ? 'Name another interpreter (SCENEPRESS_PYTHON), or none for the default one.'
      : 'Make it with `npx scenepress setup`, or name another one with SCENEPRESS_PYTHON.';
    throw new ScenepressError(
      'renderer_unavailable',
      `There is no Python environment with Manim at ${python}. ${remedy}`,
    );
  }
  const environment = environmentOf(python, closed);
  return {
    tree: undefined,
    environment,
    python: environment.python,
    packageFolder: join(folder, 'renderer'),
  };
}

/** Where a path that renderers see is on this machine. */
export function onMachine({ tree }: RendererRoot, path: string): string {
  return tree === undefined ? path : join(tree, path);
}

/** A program of the root, to be started outside of it: with the loader and the libraries of the root's own. */
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

/** What renderers see of a root. `hidden`: not by this machine's own paths, as far as that is possible. */
export interface RootView {
  python: string;
  packageFolder: string;
  mounts: Mount[];
  links: Link[];
}

/** The files and links of the root, and where renderers see them; what isn't there is left out. */
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
