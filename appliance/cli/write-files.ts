import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UserError } from '../support/user-error.ts';

/** Writes text files, each by renaming a temporary one. */
export async function writeFiles(files: { path: string; text: string }[]): Promise<void> {
  for (const { path, text } of files) {
    const part = `${path}.part`;
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(part, text, { mode: 0o644 });
      await rename(part, path);
    } catch (cause) {
      await rm(part, { force: true }).catch(() => {});
      const { code, message } = cause as NodeJS.ErrnoException;
      const remedy =
        code === 'EACCES' || code === 'EPERM' ? ' Run it as root, or preview the files with --print.' : '';
      throw new UserError(`${path} can't be written: ${message}.${remedy}`, { cause });
    }
  }
}
