import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ScenepressError } from '../errors.ts';

/**
 * All that renders: Python with Manim, TeX and fonts. Either a Python environment with parts of this machine's own
 * system around it, or an unpacked tree that renderers see as `/`.
 */
export interface RendererRoot {
  /** The unpacked tree; undefined: this machine's own system. */
  tree: string | undefined;
  /** The interpreter that has Manim, as renderers see it. */
  python: string;
  /** The folder of the Python package `scene_renderer`, as renderers see it. */
  packageFolder: string;
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
const TREE_PYTHON = '/usr/bin/python3';
const TREE_PACKAGE = '/usr/lib/scenepress';

/** The tree, or else the environment of the given interpreter; `renderer_unavailable` when it isn't there. */
export async function findRoot({
  root,
  python,
}: {
  root?: string | (() => Promise<string>);
  python?: string;
}): Promise<RendererRoot> {
  if (root === undefined || python) return environmentRoot(python);
  const tree = typeof root === 'string' ? root : await root();
  const found = { tree: resolve(tree), python: TREE_PYTHON, packageFolder: TREE_PACKAGE };
  if (!existsSync(onMachine(found, LOADER)) || !existsSync(onMachine(found, TREE_PACKAGE))) {
    throw new ScenepressError('renderer_unavailable', `There is no renderer root in ${found.tree}.`);
  }
  return found;
}

function environmentRoot(chosen: string | undefined): RendererRoot {
  const folder = packageRoot();
  const named = chosen ?? process.env['SCENEPRESS_PYTHON'];
  const python = named || join(folder, '.venv', 'bin', 'python');
  if (!existsSync(python)) {
    // A program that carries its renderer has no set-up.
    const remedy = named
      ? 'That one was named: name another, with SCENEPRESS_PYTHON, or none.'
      : 'Make it with `npx scenepress setup`, or name another one with SCENEPRESS_PYTHON.';
    throw new ScenepressError(
      'renderer_unavailable',
      `There is no Python environment with Manim at ${python}. ${remedy}`,
    );
  }
  return { tree: undefined, python: resolve(python), packageFolder: join(folder, 'renderer') };
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

/** The files of the root; what isn't there is left out. */
export function mountsOf(root: RendererRoot): Mount[] {
  return (root.tree === undefined ? environmentFiles(root) : TREE_FOLDERS)
    .map((to) => ({ from: onMachine(root, to), to }))
    .filter(({ from }) => existsSync(from));
}

/** Links at the top of the root, as from `/bin` to `usr/bin`: where they stand, and what they say. */
export function linksOf(root: RendererRoot): { path: string; target: string }[] {
  return ROOT_FOLDERS.filter((path) => isLink(onMachine(root, path))).map((path) => ({
    path,
    target: readlinkSync(onMachine(root, path)),
  }));
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function environmentFiles({ python, packageFolder }: RendererRoot): string[] {
  const folders = ROOT_FOLDERS.filter((path) => !isLink(path));
  return ['/usr', ...folders, ...SYSTEM_FILES, ...pythonFolders(python), packageFolder];
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
