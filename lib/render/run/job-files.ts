import { constants } from 'node:fs';
import { chmod, copyFile, link, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeFolder } from '../end/remove-folder.ts';

/** Other users traverse the folder and read it: renders run as one of them when the service is root. */
const MODE = 0o755;

/** The path of the links to a job's files, beside the job's folder. */
export function linksBeside(jobFolder: string): string {
  return `${jobFolder}.files`;
}

/**
 * Makes a folder with hard links to the files in another one. A worker's processes see its own folder only, so they can
 * reach the files of its job and no others, even if that is the only layer of the sandbox which works. On another file
 * system, or one without hard links, the files are copied. Anything else than files and folders is left out. A folder
 * that an ended worker has left at `to` is replaced.
 */
export async function linkFiles(from: string, to: string): Promise<void> {
  await removeFolder(to);
  await linkAll(from, to);
}

async function linkAll(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, MODE); // whatever the umask is
  const entries = await readdir(from, { withFileTypes: true });
  const linked = await Promise.allSettled(
    entries.map(async (entry) => {
      const [original, place] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory()) await linkAll(original, place);
      else if (entry.isFile())
        await link(original, place).catch(() => copyFile(original, place, constants.COPYFILE_EXCL));
    }),
  );
  // Not earlier: the folder is removed after a failure.
  for (const result of linked) if (result.status === 'rejected') throw result.reason;
}
