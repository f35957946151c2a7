import { createHash } from 'node:crypto';
import { ScenepressError } from '../base/errors.ts';
import { isStorableText } from '../base/storable-text.ts';
import type { FileContent, FileRecord, FileSet, GivenFile, GivenFiles } from '../model/owner-file.ts';
import type { FileStore } from '../storage/file-store.ts';
import type { Transaction } from '../storage/transaction.ts';
import { MOST_BYTES_OF_JOB, MOST_FILES_OF_JOB } from './file-limits.ts';
import type { FileQuota } from './file-quota.ts';
import { assertNoFolder, invalid, kindOfFile } from './names.ts';

/** The files of a job: ids by the names under which its scene finds them. */
export type NamedFiles = Readonly<Record<string, string>>;

const MIB = 1024 ** 2;
const LONGEST_ID_BYTES = 1_024;

/** Which files a job comes with: by name, those of an earlier job, or all of its owner. */
export interface JobFiles {
  files?: NamedFiles | undefined;
  /** Those that came with the request: ids by name. */
  sent?: NamedFiles | undefined;
  /** The job whose files it uses, also if they have been replaced since. */
  filesOfJob?: string | undefined;
}

/**
 * The files of a request as far as they can be checked before contents are received: `files` are ids only, `given` has
 * contents. Error: `invalid_request`.
 */
export function filesOfRequest(files: GivenFiles | undefined): { files?: NamedFiles; given?: GivenFiles } {
  if (files === undefined) return {};
  if (typeof files === 'object' && files !== null && Symbol.asyncIterator in files) return { given: files };
  const entries = Object.entries(validNames(files)).map(([name, file]) => [name, entryOf(file)] as const);
  const ids = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return ids.length === entries.length ? { files: Object.fromEntries(ids) } : { given: files };
}

/** Error: `invalid_request` for what is neither an id nor a content. */
export function entryOf(file: GivenFile): string | { content: FileContent } {
  if (isStorableText(file, LONGEST_ID_BYTES)) return file;
  const content: unknown = typeof file === 'object' && file !== null ? file.content : undefined;
  if (typeof content === 'string' || content instanceof Uint8Array) return { content };
  if (typeof content === 'object' && content !== null && Symbol.asyncIterator in content)
    return { content: content as AsyncIterable<Uint8Array> };
  throw invalid('files is an object with ids of files, or contents, by their names');
}

/** Checks the names of a request; the files are looked up later. Error: `invalid_request`. */
function validNames<Files extends object>(files: Files): Files {
  if (typeof files !== 'object' || files === null || Array.isArray(files))
    throw invalid('files is an object with ids of files, or contents, by their names');
  const names = Object.keys(files);
  if (names.length > MOST_FILES_OF_JOB) throw tooManyOfJob();
  for (const name of names) kindOfFile(name);
  assertNoFolder(names);
  return files;
}

/**
 * The files of an owner under these names, with those that came with the request. Errors: `not_found` for one that the owner
 * does not have; `invalid_request` if a name stands for another kind, or they are too large together.
 */
async function namedSet(
  store: FileStore,
  owner: string,
  { files = {}, sent = {} }: Pick<JobFiles, 'files' | 'sent'>,
  tx?: Transaction,
): Promise<FileSet | undefined> {
  const ids = [...new Set([...Object.values(files), ...Object.values(sent)])];
  const found = new Map((await store.getAll(ids, tx)).map((file) => [file.fileId, file]));
  let bytes = 0;
  for (const [name, fileId] of [...Object.entries(files), ...Object.entries(sent)]) {
    const file = found.get(fileId);
    const isThere = file?.owner === owner && file.phase === (Object.hasOwn(sent, name) ? 'sent' : 'stored');
    if (!isThere)
      throw new ScenepressError(
        'not_found',
        `There is no file ${fileId}, for ${name}, or it has been removed.`,
      );
    if (kindOfFile(name).kind !== file.kind)
      throw invalid(`${name} would be ${file.name}, which is of another kind.`);
    bytes += file.sizeBytes;
  }
  if (bytes > MOST_BYTES_OF_JOB) throw tooLargeTogether();
  const entries = { ...files };
  for (const [name, fileId] of Object.entries(sent)) {
    const file = found.get(fileId);
    if (file && tx) entries[name] = await given(store, file, tx);
    else entries[name] = fileId;
  }
  return setOf(
    owner,
    Object.entries(entries).map(([name, fileId]) => ({ name, fileId })),
  );
}

/** Gives a file that came with a request to its job: the one that came with an earlier request, if they are equal. */
async function given(store: FileStore, file: FileRecord, tx: Transaction): Promise<string> {
  const { fileId, owner, sha256, name, contentId } = file;
  const before = await store.sentBefore(owner, sha256, name, tx);
  if (before?.contentId === contentId) {
    await store.delete(tx, fileId);
    return before.fileId;
  }
  await store.update(tx, { ...file, phase: 'removed' });
  return fileId;
}

/** All files of an owner; without entries if they are more than a job comes with; undefined if there are none. */
async function wholeSet(store: FileStore, owner: string, tx?: Transaction): Promise<FileSet | undefined> {
  const files = await store.list({ owner, limit: MOST_FILES_OF_JOB + 1 }, tx);
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (files.length > MOST_FILES_OF_JOB || bytes > MOST_BYTES_OF_JOB) return setOfNone(owner);
  return setOf(
    owner,
    files.map(({ name, fileId }) => ({ name, fileId })),
  );
}

/** Whether a job got no files because its owner had more than a job comes with. */
export function isLeftOut(set: FileSet | undefined): boolean {
  return set?.entries.length === 0;
}

/** Said of such a job. */
export const LEFT_OUT: string = `The account has more than ${MOST_FILES_OF_JOB} files, or more than ${MOST_BYTES_OF_JOB / MIB} MiB, so the scene got none of them. Name the files that it reads, with \`files\`.`;

/** The files that a check or a picture for an owner comes with: as a job would. Errors: those of {@link FileChoice}. */
export function filesOfCheck(
  store: FileStore,
  owner: string,
  asked: Pick<JobFiles, 'files' | 'sent'>,
): Promise<FileSet | undefined> {
  return asked.files || asked.sent ? namedSet(store, owner, asked) : wholeSet(store, owner);
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
  return entries.length === 0 ? undefined : hashed(owner, entries);
}

/** Recorded, so that a job says why it has no files. */
function setOfNone(owner: string): FileSet {
  return hashed(owner, []);
}

function hashed(owner: string, entries: FileSet['entries']): FileSet {
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const setId = createHash('sha256')
    .update(JSON.stringify([owner, sorted]))
    .digest('hex');
  return { setId, owner, entries: sorted };
}

/** The error for more files than a job comes with. */
export function tooManyOfJob(): ScenepressError {
  return invalid(`A job comes with at most ${MOST_FILES_OF_JOB} files.`);
}

/** The error for files that are too large together. */
export function tooLargeTogether(): ScenepressError {
  return invalid(`The files of a job have at most ${MOST_BYTES_OF_JOB / MIB} MiB together.`);
}

/** Chooses the files of jobs of one owner that are added in one transaction, in which the owner is locked. */
export class FileChoice {
  readonly #store: FileStore;
  readonly #owner: string;
  readonly #tx: Transaction;
  readonly #quota: Pick<FileQuota, 'assertUses'> | undefined;
  #whole: Promise<FileSet | undefined> | undefined;

  constructor(store: FileStore, owner: string, tx: Transaction, quota?: Pick<FileQuota, 'assertUses'>) {
    this.#store = store;
    this.#owner = owner;
    this.#tx = tx;
    this.#quota = quota;
  }

  /** Errors: those of {@link namedSet}; `too_much_stored` for a set that is one too many. */
  async setOf(files: JobFiles): Promise<FileSet | undefined> {
    const set = await this.#chosen(files);
    if (set) await this.#quota?.assertUses(this.#tx, set);
    return set;
  }

  #chosen({ files, sent, filesOfJob }: JobFiles): Promise<FileSet | undefined> {
    if (files || sent) return namedSet(this.#store, this.#owner, { files, sent }, this.#tx);
    if (filesOfJob !== undefined) return this.#store.usedBy(filesOfJob, this.#tx);
    this.#whole ??= wholeSet(this.#store, this.#owner, this.#tx);
    return this.#whole;
  }
}
