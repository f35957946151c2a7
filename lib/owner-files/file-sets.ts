import { createHash } from 'node:crypto';
import { ScenepressError } from '../base/errors.ts';
import { isStorableText } from '../base/storable-text.ts';
import type { FileRecord, FileSet } from '../model/owner-file.ts';
import type { FileStore } from '../storage/file-store.ts';
import type { Transaction } from '../storage/transaction.ts';
import { MOST_BYTES_OF_JOB, MOST_FILES_OF_JOB } from './file-limits.ts';
import { assertNoFolder, invalid, kindOfFile } from './names.ts';

/** The files of a job: ids by the names under which its scene finds them. */
export type NamedFiles = Readonly<Record<string, string>>;

const MIB = 1024 ** 2;
const LONGEST_ID_BYTES = 1_024;

/** Checks the names of a request; the files are looked up later. Error: `invalid_request`. */
export function validNames(files: NamedFiles): NamedFiles {
  const isMap = typeof files === 'object' && files !== null && !Array.isArray(files);
  if (!isMap || !Object.values(files).every((fileId) => isStorableText(fileId, LONGEST_ID_BYTES)))
    throw invalid('files is an object with ids of files by their names');
  const names = Object.keys(files);
  if (names.length > MOST_FILES_OF_JOB) throw invalid(`A job comes with at most ${MOST_FILES_OF_JOB} files.`);
  for (const name of names) kindOfFile(name);
  assertNoFolder(names);
  return files;
}

/**
 * The files of an owner under these names. Errors: `not_found` for one that the owner does not have; `invalid_request` if
 * a name stands for another kind, or they are too large together.
 */
export async function namedSet(
  store: FileStore,
  owner: string,
  files: NamedFiles,
  tx?: Transaction,
): Promise<FileSet | undefined> {
  const found = new Map((await store.getAll(Object.values(files), tx)).map((file) => [file.fileId, file]));
  let bytes = 0;
  for (const [name, fileId] of Object.entries(files)) {
    const file = found.get(fileId);
    if (!file || file.owner !== owner || file.phase !== 'stored')
      throw new ScenepressError(
        'not_found',
        `There is no file ${fileId}, for ${name}, or it has been removed.`,
      );
    if (kindOfFile(name).kind !== file.kind)
      throw invalid(`${name} would be ${file.name}, which is of another kind.`);
    bytes += file.sizeBytes;
  }
  if (bytes > MOST_BYTES_OF_JOB)
    throw invalid(`The files of a job have at most ${MOST_BYTES_OF_JOB / MIB} MiB together.`);
  return setOf(
    owner,
    Object.entries(files).map(([name, fileId]) => ({ name, fileId })),
  );
}

/** All files of an owner; undefined if there are none, or more than a job comes with. */
export async function wholeSet(
  store: FileStore,
  owner: string,
  tx?: Transaction,
): Promise<FileSet | undefined> {
  const files = await store.list({ owner, limit: MOST_FILES_OF_JOB + 1 }, tx);
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (files.length > MOST_FILES_OF_JOB || bytes > MOST_BYTES_OF_JOB) return undefined;
  return setOf(
    owner,
    files.map(({ name, fileId }) => ({ name, fileId })),
  );
}

/** The files that a check or a picture for an owner comes with: as a job would. Errors: those of {@link namedSet}. */
export function filesOfCheck(
  store: FileStore,
  owner: string,
  files: NamedFiles | undefined,
): Promise<FileSet | undefined> {
  return files ? namedSet(store, owner, validNames(files)) : wholeSet(store, owner);
}

/** The records of the files of a set, by their names in it. */
export async function filesOf(
  store: FileStore,
  { entries }: FileSet,
): Promise<(FileRecord & { name: string })[]> {
  const found = new Map(
    (await store.getAll(entries.map(({ fileId }) => fileId))).map((file) => [file.fileId, file]),
  );
  return entries.flatMap(({ name, fileId }) => {
    const file = found.get(fileId);
    return file ? [{ ...file, name }] : [];
  });
}

function setOf(owner: string, entries: FileSet['entries']): FileSet | undefined {
  if (entries.length === 0) return undefined;
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const setId = createHash('sha256')
    .update(JSON.stringify([owner, sorted]))
    .digest('hex');
  return { setId, owner, entries: sorted };
}

/** Which files a job comes with: by name, those of an earlier job, or all of its owner. */
export interface JobFiles {
  files?: NamedFiles | undefined;
  /** The job whose files it uses, also if they have been replaced since. */
  filesOfJob?: string | undefined;
}

/** Chooses the files of jobs of one owner that are added in one transaction. */
export class FileChoice {
  readonly #store: FileStore;
  readonly #owner: string;
  readonly #tx: Transaction;
  #whole: Promise<FileSet | undefined> | undefined;

  constructor(store: FileStore, owner: string, tx: Transaction) {
    this.#store = store;
    this.#owner = owner;
    this.#tx = tx;
  }

  /** Errors: those of {@link namedSet}. */
  async setOf({ files, filesOfJob }: JobFiles): Promise<FileSet | undefined> {
    if (files) return namedSet(this.#store, this.#owner, files, this.#tx);
    if (filesOfJob !== undefined) return this.#store.usedBy(filesOfJob, this.#tx);
    this.#whole ??= wholeSet(this.#store, this.#owner, this.#tx);
    return this.#whole;
  }
}
