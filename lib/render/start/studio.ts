import {
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { DATA_FILES, STUDIO_PARTS } from '../../files/data-files.ts';

/** The studio folder, readable by all scenes. Plain data, because it is passed to threads. */
export interface StudioFolder {
  /** Absolute. Its subfolders `fonts`, `python`, `assets` and `texmf` are optional. */
  path: string;
  /** Whether its files may be made world-readable, because other users cannot enter the folder. */
  closed: boolean;
}

/** The mount point of the folder with bubblewrap. */
export const STUDIO_PLACE = '/studio';

const READABLE_FILE = 0o444;
const READABLE_FOLDER = 0o555;

/** Creates missing subfolders. */
export function makeStudioParts(path: string): void {
  for (const part of STUDIO_PARTS) {
    try {
      mkdirSync(join(path, part), { recursive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error; // Optional: scenes render without it.
    }
  }
}

/** The existing subfolders. */
export function studioParts({ path }: StudioFolder): string[] {
  return STUDIO_PARTS.filter((part) => statSync(join(path, part), { throwIfNoEntry: false })?.isDirectory());
}

/** A fingerprint of the fonts, which zygotes read at start. When it changes, zygotes must be restarted. */
export function fontsState({ path }: StudioFolder): string {
  const known: string[] = [];
  for (const [font, { ino, size, mtimeMs }] of entriesBelow(join(path, DATA_FILES.fonts))) {
    known.push(`${font} ${ino} ${size} ${mtimeMs}`);
  }
  return known.join('\n');
}

/** Makes the folder world-readable, because renders run as separate users when the service is root. */
export function openToReaders({ path }: StudioFolder): void {
  for (const part of STUDIO_PARTS) {
    const folder = join(path, part);
    const status = lstatSync(folder, { throwIfNoEntry: false });
    if (!status?.isDirectory()) continue; // Links may lead to files outside the folder.
    addRights(folder, status);
    for (const [entry, status] of entriesBelow(folder)) addRights(entry, status);
  }
}

function addRights(path: string, status: Stats): void {
  if (!status.isDirectory() && !status.isFile()) return;
  const executable = status.isDirectory() || (status.mode & constants.S_IXUSR) !== 0;
  const wanted = status.mode | (executable ? READABLE_FOLDER : READABLE_FILE);
  if (wanted === status.mode) return;
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      fchmodSync(file, wanted & 0o7777);
    } finally {
      closeSync(file);
    }
  } catch {
    // Ignored when the file was removed or replaced meanwhile, or is on a read-only file system.
  }
}

/** All files and folders below a folder; links are not followed. */
function* entriesBelow(folder: string): Iterable<[path: string, status: Stats]> {
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (!status) continue; // Removed meanwhile.
    yield [path, status];
    if (status.isDirectory()) yield* entriesBelow(path);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // Missing or unreadable for the service, and so for scenes.
  }
}
