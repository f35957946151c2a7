import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ScenepressError } from '../base/errors.ts';
import { isOutOfSpace } from './disk.ts';

/** Explains system errors of a data folder and how to fix them; returns other errors unchanged. */
export function explained(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || error instanceof ScenepressError) return error;
  const { code = '', path = folder } = error as NodeJS.ErrnoException;
  if (!isWithin(path, folder) && !isWithin(folder, path)) return error;
  const reason = reasonOf(error, code, path, folder);
  if (reason === undefined) return error;
  return new ScenepressError('storage_failed', `The data folder ${folder} can't be used: ${reason}`, {
    cause: error,
  });
}

/** Whether a path is the folder or below it. */
function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** The part of a path that is a file where a folder should be. */
function fileIn(path: string): string {
  for (let part = path; part !== dirname(part); part = dirname(part)) {
    try {
      return statSync(part).isDirectory() ? path : part;
    } catch {} // It does not exist, because a part before it is no folder.
  }
  return path;
}

function reasonOf(error: Error, code: string, path: string, folder: string): string | undefined {
  if (isOutOfSpace(error)) return 'its disk is full (ENOSPC). Free some space on it.';
  const user = process.getuid ? ` (user id ${process.getuid()})` : '';
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      if ((error as NodeJS.ErrnoException).syscall === 'mkdir' && isWithin(folder, path)) {
        return (
          `this user${user} may not create ${path} (${code}). Create ${folder} as root and give it to this user, ` +
          'with chown.'
        );
      }
      return (
        `this user${user} may not use ${path} (${code}). Run Scenepress as the user that the folder belongs to, ` +
        'or give the folder to this one, with chown -R.'
      );
    case 'EROFS':
      return `its disk is read-only (${code}). Mount it writable.`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${fileIn(path)} is not a folder (${code}).`;
    case 'EISDIR':
      return `${path} is a folder where a file should be (${code}). Put the file back in its place.`;
    case 'EIO':
      return `${path} can't be read or written (${code}): the disk may be failing. Copy what it holds, then restore a backup.`;
    default:
      return (error as NodeJS.ErrnoException).syscall === undefined
        ? undefined
        : `${error.message}. Check the disk.`;
  }
}
