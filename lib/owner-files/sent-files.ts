import { createHash } from 'node:crypto';
import { InProgress } from '../async/in-progress.ts';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { namedIfFull } from '../files/shortage.ts';
import { SortableIds } from '../model/ids.ts';
import type { FileContent, FileRecord, GivenFile, GivenFiles } from '../model/owner-file.ts';
import type { Storage } from '../storage/storage.ts';
import type { Transaction } from '../storage/transaction.ts';
import type { Clock } from '../time/clock.ts';
import type { Contents } from './contents.ts';
import { MOST_BYTES_OF_JOB, MOST_FILES_OF_JOB } from './file-limits.ts';
import type { FileQuota } from './file-quota.ts';
import type { FileRemoval } from './file-removal.ts';
import { entryOf, type JobFiles, tooLargeTogether, tooManyOfJob } from './file-sets.ts';
import { assertNoFolder, invalid, kindOfFile } from './names.ts';
import { piecesOf, type Received } from './receive.ts';
import type { Upload, Uploads } from './uploads.ts';

/** After which the process that adds the job of one counts as dead. */
const KEPT_MS = 60 * 60_000;

/** What came with a request. */
export interface Sent extends Required<Pick<JobFiles, 'files' | 'sent'>> {
  /** Equal for equal names and contents. */
  digest: string;
}

interface ReceivedFile extends Received {
  name: string;
  kind: FileRecord['kind'];
}

/** What they need of a service. */
export interface SentFilesParts {
  storage: Storage;
  contents: Contents;
  removal: FileRemoval;
  quota: FileQuota;
  uploads: Uploads;
  /** Error: the owner may add nothing. In the transaction that adds a file. */
  assertAdmitted: (owner: string, tx: Transaction) => Promise<void>;
  clock: Clock;
  random: Random;
}

/**
 * Contents that come with a request: they are in no list, and removed when no job uses them. Until their job is added they
 * are `sent`; what a process leaves so is removed within an hour.
 */
export class SentFiles {
  readonly #parts: SentFilesParts;
  readonly #ids: SortableIds;
  readonly #inProgress = new InProgress();

  constructor(parts: SentFilesParts) {
    this.#parts = parts;
    this.#ids = new SortableIds(parts.clock, parts.random);
  }

  /**
   * Receives and stores the contents of requests of one owner, one after the other, and calls `work` with what came with each;
   * undefined: nothing did. Removes afterwards what no job has. Errors: `invalid_request` for names and contents that scenes
   * can't use; `too_much_stored`, `owner_refused`, `queue_full`, `storage_full`, `storage_failed`, and those of `work`.
   */
  async with<Result>(
    owner: string,
    given: readonly (GivenFiles | undefined)[],
    work: (sent: (Sent | undefined)[]) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    if (given.every((files) => files === undefined)) return work(given.map(() => undefined));
    return this.#with(owner, given, work, signal);
  }

  /** Resolves when none is being stored. */
  settled(): Promise<void> {
    return this.#inProgress.idle();
  }

  async #with<Result>(
    owner: string,
    given: readonly (GivenFiles | undefined)[],
    work: (sent: (Sent | undefined)[]) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const kept: FileRecord[] = [];
    let isDone = false;
    try {
      const sent: (Sent | undefined)[] = [];
      for (const files of given) sent.push(files && (await this.#keep(owner, files, kept, signal)));
      const result = await work(sent);
      isDone = true;
      return result;
    } finally {
      await this.#inProgress.add(this.#withdraw(kept, isDone));
    }
  }

  async #keep(
    owner: string,
    given: GivenFiles,
    kept: FileRecord[],
    signal: AbortSignal | undefined,
  ): Promise<Sent> {
    const upload = await this.#parts.uploads.begin(owner, signal);
    try {
      const { files, received } = await receiveAll(given, upload);
      const sent = await this.#inProgress.add(this.#store(owner, received, kept));
      signal?.throwIfAborted();
      return { files, sent, digest: digestOf(received) };
    } catch (error) {
      throw namedIfFull(error);
    } finally {
      await upload.end();
    }
  }

  /** Returns ids by name. */
  async #store(
    owner: string,
    received: readonly ReceivedFile[],
    kept: FileRecord[],
  ): Promise<Record<string, string>> {
    const records = await this.#record(owner, received);
    kept.push(...records.map(({ file }) => file));
    for (const { file, received, isNew } of records)
      await this.#parts.contents[isNew ? 'put' : 'putIfLost'](file, received);
    return Object.fromEntries(records.map(({ file }) => [file.name, file.fileId]));
  }

  /** The records are written first, so that what a crash leaves in the store is removed. */
  #record(
    owner: string,
    received: readonly ReceivedFile[],
  ): Promise<{ file: FileRecord; received: ReceivedFile; isNew: boolean }[]> {
    const { storage, quota, clock, assertAdmitted } = this.#parts;
    const createdAtMs = clock.now();
    const drafts = received.map(({ name, kind, sizeBytes, sha256, path }) => ({
      file: {
        ...{ fileId: `f${this.#ids.next()}`, owner, name, phase: 'sent' as const, kind, sizeBytes, sha256 },
        ...{ contentId: `c${this.#ids.next()}`, createdAtMs, dueAtMs: createdAtMs + KEPT_MS },
      },
      received: { name, kind, sizeBytes, sha256, path },
    }));
    return storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      await assertAdmitted(owner, tx);
      const records: { file: FileRecord; received: ReceivedFile; isNew: boolean }[] = [];
      for (const draft of drafts) {
        const same = await storage.files.withContent(owner, draft.file.sha256, tx);
        const { sizeBytes } = draft.file;
        await quota.assertAdds(tx, { owner, sizeBytes, isListed: false, hasContent: same !== undefined });
        const file = same ? { ...draft.file, contentId: same.contentId } : draft.file;
        await storage.files.insert(tx, file);
        records.push({ ...draft, file, isNew: !same });
      }
      return records;
    });
  }

  /** What can't be removed now is when its process counts as dead. */
  async #withdraw(kept: readonly FileRecord[], isDone: boolean): Promise<void> {
    const { storage, removal } = this.#parts;
    for (const { fileId } of kept) {
      const file = await storage.files.get(fileId).catch(() => undefined);
      if (file?.phase === 'sent') await removal.withdraw(file).catch(() => {});
      // Given to a job that was not added after all.
      else if (file && !isDone) await removal.discard(file, { early: true }).catch(() => {});
    }
  }
}

/** Receives the contents of a request, in its order. */
async function receiveAll(
  given: GivenFiles,
  upload: Upload,
): Promise<{ files: Record<string, string>; received: ReceivedFile[] }> {
  const files = new Map<string, string>();
  const received = new Map<string, ReceivedFile>();
  let left = MOST_BYTES_OF_JOB;
  const counted = async function* (content: FileContent) {
    for await (const piece of piecesOf(content)) {
      left -= piece.length;
      if (left < 0) throw tooLargeTogether();
      yield piece;
    }
  };
  for await (const [name, file] of entriesOf(given)) {
    if (files.has(name) || received.has(name)) throw invalid(`${name} is given twice.`);
    if (files.size + received.size >= MOST_FILES_OF_JOB) throw tooManyOfJob();
    const kind = kindOfFile(name);
    const entry = entryOf(file);
    if (typeof entry === 'string') files.set(name, entry);
    else
      received.set(name, {
        ...{ name, kind: kind.kind },
        ...(await upload.receive(counted(entry.content), kind).catch((error: unknown) => {
          throw named(name, error);
        })),
      });
  }
  assertNoFolder([...files.keys(), ...received.keys()]);
  return { files: Object.fromEntries(files), received: [...received.values()] };
}

async function* entriesOf(given: GivenFiles): AsyncGenerator<readonly [name: string, file: GivenFile]> {
  if (Symbol.asyncIterator in given) yield* given;
  else yield* Object.entries(given);
}

/** Says which of several files an error is about. */
function named(name: string, error: unknown): unknown {
  if (!(error instanceof ScenepressError) || error.code !== 'invalid_request') return error;
  return invalid(`${name}: ${error.message}`);
}

function digestOf(received: readonly ReceivedFile[]): string {
  const contents = received.map(({ name, sha256 }) => [name, sha256]);
  contents.sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(contents)).digest('hex');
}
