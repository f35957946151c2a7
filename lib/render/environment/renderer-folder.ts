import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { ScenepressError } from '../../base/errors.ts';
import { homeFolder } from '../../files/home-folder.ts';
import { RootMark } from './root-mark.ts';

const LOCKS = ['requirements-build.lock', 'requirements.lock'];
/** A newer root replaces one of older Debian packages. */
const ROOT_LOCKS = [...LOCKS, 'debian.lock'];
const NATIVE_SOURCES = 'native';
const SOURCES = ['scene_renderer', 'scenes'];
const KEY_LENGTH = 16;
/** The set-up writes it last; its first line is the interpreter that the environment is based on. */
const STAMP = '.scenepress-lock';

/** A renderer that is set up: an unpacked root, or the interpreter of an environment. */
export type FoundRenderer = { root: string } | { python: string };

/**
 * The folder of renderers that several projects share: `SCENEPRESS_RENDERER_DIR`, or else in the user's cache. Not in
 * the home folder of root, which the users that render can't enter. Error: `renderer_unavailable` for a user without a
 * home folder.
 */
export function rendererFolder(): string {
  const folder = process.env['SCENEPRESS_RENDERER_DIR'] || userCacheFolder();
  if (folder !== undefined) return resolve(folder);
  throw new ScenepressError(
    'renderer_unavailable',
    'There is no place for the renderer, because this user has no home folder. Name a folder for it ' +
      '(SCENEPRESS_RENDERER_DIR), or one for caches (XDG_CACHE_HOME).',
  );
}

/** The cache folder of Scenepress; undefined for a user without a home folder. @internal */
export function userCacheFolder(): string | undefined {
  return process.getuid?.() === 0 ? '/var/cache/scenepress' : ownCacheFolder();
}

/** Where this user keeps what no other user has to read; undefined without a home folder. @internal */
export function ownCacheFolder(): string | undefined {
  const home = homeFolder();
  const caches = process.env['XDG_CACHE_HOME'] || (home && join(home, '.cache'));
  return caches && join(caches, 'scenepress');
}

/** The Python environment of this version in a folder; it may be missing. */
export function environmentFolder(folder: string): string {
  return join(folder, `python-${keyOf([...LOCKS.map(inPackage), ...sourcesIn(inPackage(NATIVE_SOURCES))])}`);
}

/** The beginning of the names of unpacked roots of this version. Other versions don't remove roots of such names. */
export function rootPrefix(): string {
  const sources = [NATIVE_SOURCES, ...SOURCES].flatMap((name) => sourcesIn(inPackage(name)));
  return `root-${keyOf([...ROOT_LOCKS.map(inPackage), ...sources])}-`;
}

/** The renderer of this version in a folder: preferably a root, which hides this machine's files from scenes. */
export async function findRenderer(folder: string): Promise<FoundRenderer | undefined> {
  if (!existsSync(folder)) return undefined;
  const prefix = rootPrefix();
  const names = readdirSync(folder).filter((name) => name.startsWith(prefix) && !/[.]/.test(name));
  for (const name of names.sort()) {
    const root = join(folder, name);
    if (await new RootMark(root).isThere()) return { root };
  }
  const python = join(environmentFolder(folder), 'bin', 'python');
  return isWhole(python) ? { python } : undefined;
}

/** The Python sources of the renderer in this package. */
export function rendererSources(): { name: string; path: string }[] {
  return SOURCES.map((name) => ({ name, path: inPackage(name) }));
}

/** The folder of package.json, for both source and `dist`. Error: `renderer_unavailable`. */
export function packageRoot(): string {
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

function inPackage(name: string): string {
  return join(packageRoot(), 'renderer', name);
}

/** False also when the interpreter has been replaced by another version. */
function isWhole(python: string): boolean {
  try {
    const [interpreter] = readFileSync(join(dirname(dirname(python)), STAMP), 'utf8').split('\n');
    return interpreter === realpathSync(python);
  } catch {
    return false;
  }
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('__pycache__'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function keyOf(paths: string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) hash.update(readFileSync(path)).update('\0');
  return hash.digest('hex').slice(0, KEY_LENGTH);
}
