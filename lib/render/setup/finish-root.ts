import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { ScenepressError } from '../../base/errors.ts';
import { LOADER } from '../environment/flush.ts';
import { packageRoot, rendererSources } from '../environment/renderer-folder.ts';

const run = promisify(execFile);
const LIBRARIES = 'usr/lib/x86_64-linux-gnu';
const RENDERER = 'usr/lib/scenepress';
const PYTHON_LIBRARIES = 'usr/local/lib';
const NATIVE = 'scenepress_native.so';
/** In `native.py`: identifies the functions of the compiled module. The module contains it, too. */
const INTERFACE = /^INTERFACE = "(\w+)"$/m;
const SAME_VERSION = 'Use an archive of the same version.';
const LOCKED = /^([\w.-]+)==([^\s;]+)/gm;
const INSTALLED = /^(.+)-([^-]+)\.dist-info$/;
/** Bytecode is used without a check of the source's time, and doesn't contain the tree's place. */
const COMPILE = `
import compileall, os, py_compile, sys
os.umask(0o022)
sys.exit(not compileall.compile_dir(sys.argv[1], quiet=1, stripdir=sys.argv[2], prependdir='/',
                                    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH))
`;

/**
 * Puts the Python sources of this package into an unpacked root, in place of those that it may have. Error:
 * `renderer_unavailable`, if the root has other versions of Python packages than this package was made for, or a module
 * compiled from other sources.
 */
export async function finishRoot(tree: string, archive: string): Promise<void> {
  await assertVersions(tree, archive);
  const folder = join(tree, RENDERER);
  await rm(folder, { recursive: true, force: true });
  for (const { name, path } of rendererSources()) {
    const filter = (source: string) => !/^(__pycache__|ruff\.toml)$/.test(basename(source));
    await cp(path, join(folder, name), { recursive: true, filter });
  }
  const libraries = join(tree, LIBRARIES);
  const python = ['--library-path', libraries, join(tree, 'usr/bin/python3')];
  await run(join(libraries, LOADER), [...python, '-c', COMPILE, folder, tree], {
    env: { PYTHONHOME: join(tree, 'usr') },
  });
}

async function assertVersions(tree: string, archive: string): Promise<void> {
  const folders = await packageFolders(tree);
  const installed = await installedPackages(folders);
  const lock = await readFile(join(packageRoot(), 'renderer', 'requirements.lock'), 'utf8');
  for (const [, name = '', version] of lock.matchAll(LOCKED)) {
    const found = installed.get(plain(name));
    if (found === version || (found === undefined && name !== 'manim')) continue;
    throw new ScenepressError(
      'renderer_unavailable',
      found === undefined
        ? `${archive} contains no Manim.`
        : `${archive} has ${name} ${found}, but this version of scenepress needs ${version}. ${SAME_VERSION}`,
    );
  }
  for (const folder of folders) {
    const compiled = await readFile(join(folder, NATIVE)).catch(() => undefined);
    if (!compiled || compiled.includes(await nativeInterface())) continue;
    throw new ScenepressError(
      'renderer_unavailable',
      `${archive} has a module ${NATIVE} of another version of scenepress. ${SAME_VERSION}`,
    );
  }
}

/** What the compiled module of this version contains. */
async function nativeInterface(): Promise<string> {
  const source = await readFile(join(packageRoot(), 'renderer', 'scene_renderer', 'native.py'), 'utf8');
  const [, found] = INTERFACE.exec(source) ?? [];
  assert(found, 'native.py names its interface');
  return found;
}

/** Where a root has its Python packages. */
async function packageFolders(tree: string): Promise<string[]> {
  const libraries = join(tree, PYTHON_LIBRARIES);
  const versions = await readdir(libraries).catch(() => []);
  return versions
    .filter((name) => name.startsWith('python3'))
    .map((name) => join(libraries, name, 'dist-packages'));
}

async function installedPackages(folders: string[]): Promise<Map<string, string>> {
  const names = await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])));
  const found = names.flat().map((name) => INSTALLED.exec(name));
  return new Map(found.map((match) => [plain(match?.[1] ?? ''), match?.[2] ?? '']));
}

/** Names of packages are equal whatever their case and separators. */
const plain = (name: string) => name.toLowerCase().replaceAll(/[-_.]+/g, '-');
