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

/** A studio's own material, for every scene to read. Plain data: it is handed to threads. */
export interface StudioFolder {
  /** Absolute. What isn't there of its `fonts`, `python` and `assets` is left out. */
  path: string;
  /** What is put into it may be opened to all readers: no other user of the machine can get into it. */
  closed: boolean;
}

/** Where scenes see the folder when bubblewrap makes their root, wherever it lies outside. */
export const STUDIO_PLACE = '/studio';

export const STUDIO_PARTS: readonly string[] = ['fonts', 'python', 'assets'];
const READABLE_FILE = 0o444;
const READABLE_FOLDER = 0o555;

/** Makes the parts of a folder that aren't there yet. */
export function makeStudioParts(path: string): void {
  for (const part of STUDIO_PARTS) {
    try {
      mkdirSync(join(path, part), { recursive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error; // Scenes render without it.
    }
  }
}

/** The parts that are there. */
export function studioParts({ path }: StudioFolder): string[] {
  return STUDIO_PARTS.filter((part) => statSync(join(path, part), { throwIfNoEntry: false })?.isDirectory());
}

/**
 * What a zygote knows of the folder since its start, as a text; when that has changed, it must be started anew. Those
 * are the parts, which it was given, and the fonts, which it has read.
 */
export function studioState({ path }: StudioFolder): string {
  const known: string[] = [];
  for (const part of STUDIO_PARTS) {
    const status = statSync(join(path, part), { throwIfNoEntry: false });
    if (status?.isDirectory()) known.push(`${part} ${status.dev} ${status.ino}`);
  }
  for (const [font, { ino, size, mtimeMs }] of entriesBelow(join(path, 'fonts'))) {
    known.push(`${font} ${ino} ${size} ${mtimeMs}`);
  }
  return known.join('\n');
}

/** Lets every user read what is in the folder: renders run as users of their own when the service is root. */
export function openToReaders({ path }: StudioFolder): void {
  for (const part of STUDIO_PARTS) {
    const folder = join(path, part);
    const status = lstatSync(folder, { throwIfNoEntry: false });
    if (!status?.isDirectory()) continue; // A link leads to what isn't ours to open.
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
    // Removed or replaced meanwhile, or on a medium that can't be written: then it stays as readable as it is.
  }
}

/** Every file and folder below one, as it is named; links are not followed. */
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
    return []; // Not there, or closed to the service: scenes won't see it either.
  }
}
