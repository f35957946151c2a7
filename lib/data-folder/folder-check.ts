import { ScenepressError } from '../base/errors.ts';
import {
  DATA_FILES,
  DOCUMENT_FILES,
  LOCK_FILES,
  OLD_WORK_SUFFIX,
  STUDIO_PARTS,
} from '../files/data-files.ts';
import type { Disk } from '../files/disk.ts';

const { database, databaseLog, artifacts: ARTIFACTS, work, adminSocket } = DATA_FILES;
/** Files that an incomplete first start may leave before the database. */
const BEFORE_THE_DATA = new Set([
  ...LOCK_FILES,
  ...STUDIO_PARTS,
  ...withTemporary(DATA_FILES.masterKey, DATA_FILES.masterKeyCheck, DATA_FILES.spareSpace),
  adminSocket,
  DATA_FILES.spareFiles,
  ARTIFACTS,
  work,
  // SQLite creates it with the database; a power cut may keep only the one or the other.
  `${database}-journal`,
]);
/** Files that a first start creates after the database. */
const DATA = new Set([databaseLog, ...withTemporary(...DOCUMENT_FILES, DATA_FILES.installation)]);
const MOST_NAMED = 5;

/**
 * Rejects a folder with foreign files, and a data folder whose database is missing: both could be mistaken for a new
 * one.
 */
export async function checkFolder(disk: Disk, folder: string): Promise<void> {
  const names = await namesIn(disk, folder);
  if (names.includes(database)) return;
  const data = names.filter((name) => DATA.has(name));
  const artifacts = names.includes(ARTIFACTS) ? await namesIn(disk, `${folder}/${ARTIFACTS}`) : [];
  if (data.length > 0 || artifacts.length > 0) {
    throw new ScenepressError(
      'storage_damaged',
      `The data in ${folder} is damaged: ${database} is missing, but ${data[0] ?? 'artifacts of jobs'} is there. ` +
        'Nothing was changed. Put the file back, or restore a backup into another folder.',
    );
  }
  const foreign = names.filter((name) => !mayPrecede(name));
  if (foreign.length === 0) return;
  const others = foreign.length > MOST_NAMED ? ` and ${foreign.length - MOST_NAMED} more` : '';
  throw new ScenepressError(
    'conflict',
    `${folder} is not a data folder and isn't empty (${foreign.slice(0, MOST_NAMED).join(', ')}${others}). ` +
      'Nothing was changed. Use an empty folder, or one that does not exist yet.',
  );
}

/** Whether a file may be in a folder before it becomes a data folder; it may also be its owner's. */
function mayPrecede(name: string): boolean {
  return (
    BEFORE_THE_DATA.has(name) ||
    name.startsWith('.') ||
    name === 'lost+found' ||
    name.startsWith(`${work}${OLD_WORK_SUFFIX}`)
  );
}

function withTemporary(...names: string[]): string[] {
  return names.flatMap((name) => [name, `${name}.new`]);
}

async function namesIn(disk: Disk, folder: string): Promise<string[]> {
  return disk.list(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}
