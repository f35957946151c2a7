import { lstat, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { unpackTar } from 'modern-tar/fs';
import { openRegularFile } from '../../lib/internal.ts';
import { UserError } from '../support/user-error.ts';
import { printable } from './output.ts';

const PICTURE = /^\d+\.png$/;

/** Writes the pictures of an archive into a folder, instead of those of an earlier render. */
export async function unpackPictures(archive: string, folder: string, most: number): Promise<void> {
  await checkPictures(folder);
  await unpack(archive, folder, { isExpected: (name) => PICTURE.test(name), most, replaceAll: true });
}

/** Writes the videos of a scene's sections and their index, as Manim names them, into a folder. */
export async function unpackSections(
  archive: string,
  folder: string,
  { className, most }: { className: string; most: number },
): Promise<void> {
  const video = /^_\d{4,}_[\p{L}\p{M}\p{N}_-]+\.(mp4|webm|mov|gif)$/u;
  const isExpected = (name: string) =>
    name === `${className}.json` || (name.startsWith(className) && video.test(name.slice(className.length)));
  await unpack(archive, folder, { isExpected, most: most + 1, replaceAll: false });
}

/** Error: when a folder for pictures has other files. A missing folder is fine. */
export async function checkPictures(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return [];
    throw new UserError(`Pictures can't be written to ${folder}: ${cause.code}.`, { exitCode: 2, cause });
  });
  const other = entries.find((entry) => !entry.isFile() || !PICTURE.test(entry.name));
  if (other)
    throw new UserError(
      `${folder} has other files than numbered pictures, such as ${printable(other.name)}. Name another folder with -o.`,
      { exitCode: 2 },
    );
}

/**
 * Unpacks into a temporary folder, then moves the files. Error: for anything but expected regular files, because a
 * scene may have changed its archive; and when a file would replace something else.
 */
async function unpack(
  archive: string,
  folder: string,
  {
    isExpected,
    most,
    replaceAll,
  }: { isExpected: (name: string) => boolean; most: number; replaceAll: boolean },
): Promise<void> {
  let part: string | undefined;
  let count = 0;
  const filter = ({ type, name }: { type?: string; name: string }) => {
    if (type !== 'file' || !isExpected(name))
      throw new UserError(`The scene made an unexpected file, which is not saved: ${printable(name)}.`);
    count += 1;
    if (count > most) throw new UserError(`The scene made more than ${most} files, which are not saved.`);
    return true;
  };
  try {
    await mkdir(folder, { recursive: true });
    part = await mkdtemp(join(folder, '.part-'));
    const file = await openRegularFile(archive);
    await pipeline(file.createReadStream(), unpackTar(part, { filter, fmode: 0o644 }));
    const names = await readdir(part);
    for (const name of names) await checkReplaceable(join(folder, name));
    if (replaceAll)
      for (const name of await readdir(folder)) if (PICTURE.test(name)) await rm(join(folder, name));
    for (const name of names) await rename(join(part, name), join(folder, name));
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(`Files can't be written to ${folder}: ${(cause as Error).message}.`, { cause });
  } finally {
    if (part !== undefined) await rm(part, { recursive: true, force: true });
  }
}

async function checkReplaceable(path: string): Promise<void> {
  const status = await lstat(path).catch(() => undefined);
  if (status && !status.isFile()) throw new UserError(`${path} is not a file, and is not replaced.`);
}
