import { statSync } from 'node:fs';
import { basename, dirname, relative, resolve, sep } from 'node:path';
import { ScenepressError } from '../../base/errors.ts';

/** A folder of the author's own that the scenes of one file may read. Plain data, because it is passed to threads. */
export interface SceneFolder {
  /** Absolute. */
  path: string;
  /** The file with the scenes, relative to the folder; null: the source comes from elsewhere. */
  file: string | null;
}

/** The mount point of the folder with bubblewrap. */
export const SCENE_PLACE = '/scenepress/scene';

const READABLE_BY_OTHERS = 0o005;

/**
 * The folder as scenes see it: by default that of the file. A file outside of it is rendered as if it were at its top.
 * Error: `invalid_request` when there is no such folder, or it is the root of the file system.
 *
 * ```ts
 * sceneFolderOf('lessons/one.py'); // { path: '/home/user/lessons', file: 'one.py' }
 * sceneFolderOf('lessons/one.py', '.'); // { path: '/home/user', file: 'lessons/one.py' }
 * ```
 */
export function sceneFolderOf(file: string | null, folder?: string): SceneFolder {
  const path = resolve(folder ?? (file === null ? '.' : dirname(file)));
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new ScenepressError('invalid_request', `There is no folder ${path}`);
  if (path === sep) throw new ScenepressError('invalid_request', 'The folder is /, with all files');
  if (file === null) return { path, file };
  const below = relative(path, resolve(file));
  // A file elsewhere is rendered as if it were at the top of the folder.
  return { path, file: below.startsWith(`..${sep}`) ? basename(file) : below };
}

/**
 * Whether users other than the folder's owner can read it; renders run as one of them when the service is root.
 *
 * ```ts
 * if (process.getuid?.() === 0 && !isReadableByOthers(folder)) console.log(`Run: chmod o+rx ${folder.path}`);
 * ```
 */
export function isReadableByOthers({ path }: SceneFolder): boolean {
  return (statSync(path).mode & READABLE_BY_OTHERS) === READABLE_BY_OTHERS;
}
