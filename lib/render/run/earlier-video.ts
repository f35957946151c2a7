import { constants } from 'node:fs';
import { chown, copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EarlierVideo } from '../../model/render-task.ts';

/** Their names in the folder of an encoding, which opens them before it enters its sandbox. */
const INDEX_NAME = 'earlier.index';
const VIDEO_NAME = 'earlier.mp4';

/**
 * Copies an earlier video into the folder of an encoding, for a process of the user `uid`. If that fails, the encoding
 * has none and encodes all frames.
 */
export async function bringEarlier(
  { index, video }: EarlierVideo,
  folder: string,
  uid: number | undefined,
): Promise<void> {
  const copies = [join(folder, INDEX_NAME), join(folder, VIDEO_NAME)] as const;
  try {
    await bring(index, copies[0], uid);
    await bring(video, copies[1], uid);
  } catch {
    await Promise.all(copies.map((copy) => rm(copy, { force: true })));
  }
}

/** Where the file system can, the copy shares the data. */
async function bring(path: string, copy: string, uid: number | undefined): Promise<void> {
  await copyFile(path, copy, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  if (uid !== undefined) await chown(copy, uid, uid);
}
