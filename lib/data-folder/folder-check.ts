import type { Disk } from '../disk.ts';
import { ScenepressError } from '../errors.ts';

/**
 * Files allowed in a folder before it becomes a data folder: those of its owner, and those of an incomplete first
 * start.
 */
const BEFORE_THE_DATA =
  /^(\..*|lost\+found|lock|lock-journal|lock\.holder|admin\.sock|master\.key(\.check)?(\.new)?|spare-room(\.new)?|fonts|python|assets|artifacts|work(\.old-.*)?)$/;
const DATABASE = 'database.sqlite';
/** Files that a first start creates after the database. */
const DATA = /^(database\.sqlite-wal|(accounts|keys|settings)\.json(\.new)?)$/;
const MOST_NAMED = 5;

/**
 * Rejects a folder with foreign files, and a data folder whose database is missing: both could be mistaken for a new
 * one.
 */
export async function checkFolder(disk: Disk, folder: string): Promise<void> {
  const names = await namesIn(disk, folder);
  if (names.includes(DATABASE)) return;
  const data = names.filter((name) => DATA.test(name));
  const artifacts = names.includes('artifacts') ? await namesIn(disk, `${folder}/artifacts`) : [];
  if (data.length > 0 || artifacts.length > 0) {
    throw new ScenepressError(
      'storage_damaged',
      `The data in ${folder} is damaged: ${DATABASE} is missing, but ${data[0] ?? 'artifacts of jobs'} is there. ` +
        'Nothing was changed. Put the file back, or restore a backup into another folder.',
    );
  }
  const foreign = names.filter((name) => !BEFORE_THE_DATA.test(name));
  if (foreign.length === 0) return;
  const others = foreign.length > MOST_NAMED ? ` and ${foreign.length - MOST_NAMED} more` : '';
  throw new ScenepressError(
    'conflict',
    `${folder} is not a data folder and isn't empty (${foreign.slice(0, MOST_NAMED).join(', ')}${others}). ` +
      'Nothing was changed. Name an empty folder, or one that is still to be made.',
  );
}

async function namesIn(disk: Disk, folder: string): Promise<string[]> {
  return disk.list(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
