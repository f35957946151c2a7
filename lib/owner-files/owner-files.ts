import Joi from 'joi';
import type { AssetStore, ByteRange, OpenedAsset } from '../assets/asset-store.ts';
import { InProgress } from '../async/in-progress.ts';
import { COUNT, checked, type Schemas, TEXT } from '../base/checked.ts';
import { ScenepressError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { namedIfFull } from '../files/shortage.ts';
import { kindOfName } from '../model/file-kinds.ts';
import { SortableIds } from '../model/ids.ts';
import { newOwner } from '../model/owner.ts';
import {
  contentKeyOf,
  type FileContent,
  type FileRecord,
  type FileUsage,
  type OwnerFile,
} from '../model/owner-file.ts';
import type { Transaction } from '../storage/transaction.ts';
import { isoTime } from '../time/clock.ts';
import type { FileLimits } from './file-limits.ts';
import {
  foldersOf,
  invalid,
  isSameFormat,
  kindOfFile,
  type NamedKind,
  sameAsFolder,
  validFolder,
} from './names.ts';
import type { Received } from './receive.ts';
import type { SentFilesParts } from './sent-files.ts';

/** After which the process that stores one counts as dead. */
const STORED_WITHIN_MS = 60 * 60_000;
const DEFAULT_LIMIT = 100;
const CONTENT_TYPE = 'application/octet-stream';

/** A file to keep. */
export interface PutFile {
  /** Whose it is: as of {@link EnqueueRequest}. */
  owner: string;
  /** The path under which scenes find it, such as `logo.png` or `voices/intro.mp3`. Replaces a file of that name. */
  name: string;
  content: FileContent;
  /** Gives up. */
  signal?: AbortSignal;
}

/** Which files to list. */
export interface FileQuery {
  owner: string;
  /** Only those in this folder and below it, such as `voices`. */
  folder?: string;
  /** Only those whose names contain this text; letters from A to Z in either case. */
  search?: string;
  /** The name after which the page begins: that of the last file of the page before. */
  after?: string;
  /** Default 100. */
  limit?: number;
}

/** Restricts a call to one owner's files; others are reported as `not_found`. */
export interface FileScope {
  owner?: string;
}

/** The new name of a file. */
export interface RenameFile extends FileScope {
  name: string;
}

/** Which part of a file to read. */
export interface OpenFile extends FileScope {
  /** Only these bytes, which the file has. */
  range?: ByteRange;
}

/** An open file. */
export interface OpenedFile extends OpenedAsset {
  file: OwnerFile;
  /** The media type, for a `Content-Type` header. */
  contentType: string;
}

/** What they need of a service. */
export interface OwnerFilesParts extends SentFilesParts {
  assets: AssetStore;
  logger: Logger;
}

const PUT: Schemas<Omit<PutFile, 'content'>> = {
  owner: TEXT.required(),
  name: TEXT.required(),
  signal: Joi.any(),
};
const PUT_SCHEMA = Joi.object<PutFile>({ ...PUT, content: Joi.any().required() });
const QUERY = Joi.object<FileQuery>({
  owner: TEXT.required(),
  folder: TEXT,
  search: TEXT,
  after: TEXT,
  limit: COUNT,
} satisfies Schemas<FileQuery>);
const SCOPE = Joi.object<FileScope>({ owner: TEXT });
const RENAME = Joi.object<RenameFile>({ owner: TEXT, name: TEXT.required() });
const PLACE = Joi.number().integer().min(0).required();
const OPEN = Joi.object<OpenFile>({ owner: TEXT, range: Joi.object({ start: PLACE, end: PLACE }) });

/**
 * The files of owners, which their scenes read by name: pictures, drawings, sounds, fonts, data, TeX packages and modules.
 * Contents are in the asset store, one of an owner only once.
 *
 * ```ts
 * await service.files.put({ owner: 'ada', name: 'logo.png', content: createReadStream('logo.png') });
 * await service.enqueue({ owner: 'ada', className: 'Title', code }); // ImageMobject("logo.png")
 * ```
 */
export class OwnerFiles {
  readonly #parts: OwnerFilesParts;
  readonly #ids: SortableIds;
  readonly #inProgress = new InProgress();

  /** @internal */
  constructor(parts: OwnerFilesParts) {
    this.#parts = parts;
    this.#ids = new SortableIds(parts.clock, parts.random);
  }

  /**
   * Keeps a file. It replaces one of the same name: jobs that were added before use the earlier one. A file with the content
   * that it has already stays as it is. Errors: `invalid_request` for a name or a content that scenes can't use, or a file that is too large;
   * `too_much_stored` beyond the owner's limits; `owner_refused`, `not_running`, `storage_full`, `storage_failed`.
   */
  async put(given: PutFile): Promise<OwnerFile> {
    const { owner, name, content, signal } = checked('files.put', given, PUT_SCHEMA);
    newOwner(owner);
    const kind = kindOfFile(name);
    const upload = await this.#parts.uploads.begin(owner, signal);
    try {
      const received = await upload.receive(content, kind);
      return ownerFileOf(await this.#inProgress.add(this.#keep(owner, name, kind, received)));
    } catch (error) {
      throw namedIfFull(error);
    } finally {
      await upload.end();
    }
  }

  /** Error: `not_found` when there is no such file, it has been removed, or it has another owner. */
  async get(fileId: string, scope: FileScope = {}): Promise<OwnerFile> {
    return ownerFileOf(await this.#found(fileId, scope));
  }

  /** An owner's files, by name. */
  async list(query: FileQuery): Promise<OwnerFile[]> {
    const { folder, limit = DEFAULT_LIMIT, ...rest } = checked('files.list', query, QUERY);
    const page = { ...rest, limit, ...(folder !== undefined && { folder: validFolder(folder) }) };
    return (await this.#parts.storage.files.list(page)).map(ownerFileOf);
  }

  /** What an owner's files take, and what they may take. */
  usage(owner: string): Promise<FileUsage & FileLimits> {
    return this.#parts.quota.usage(owner);
  }

  /** Reads a file. Errors: those of {@link OwnerFiles.get}. */
  async open(fileId: string, options: OpenFile = {}): Promise<OpenedFile> {
    const { range, ...scope } = checked('files.open', options, OPEN);
    const file = await this.#found(fileId, scope);
    const opened = await this.#parts.assets.open(contentKeyOf(file), range);
    if (!opened) throw noFile();
    const contentType = kindOfName(file.name)?.mediaType ?? CONTENT_TYPE;
    return { ...opened, file: ownerFileOf(file), contentType };
  }

  /**
   * Gives a file another name, of the same format. Jobs that were added before find it under its earlier one. Errors: those of
   * {@link OwnerFiles.get}; `invalid_request` for the name; `conflict` if another file has it; `owner_refused`, `storage_full`.
   */
  async rename(fileId: string, given: RenameFile): Promise<OwnerFile> {
    const { name, ...scope } = checked('files.rename', given, RENAME);
    const { storage } = this.#parts;
    const { owner } = await this.#found(fileId, scope);
    const { extension } = kindOfFile(name);
    return storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      const file = await storage.files.get(fileId, tx);
      if (file?.phase !== 'stored') throw noFile();
      if (file.name === name) return ownerFileOf(file);
      if (!isSameFormat(kindOfFile(file.name).extension, extension))
        throw invalid(`${name} would be of another format than ${file.name}. Keep the end of the name.`);
      // The file itself is in the way if its own name becomes that of a folder.
      await storage.files.update(tx, { ...file, phase: 'removed', dueAtMs: file.createdAtMs });
      if (await this.#place(tx, { ...file, name }))
        throw new ScenepressError('conflict', `There is a file ${name} already. Remove it first.`);
      const renamed: FileRecord = { ...file, name };
      await storage.files.update(tx, renamed);
      return ownerFileOf(renamed);
    });
  }

  /** Removes a file. Jobs that were added before can still be rendered with it, again, too. Errors: those of {@link OwnerFiles.get}. */
  async remove(fileId: string, scope: FileScope = {}): Promise<void> {
    const { storage } = this.#parts;
    const { owner } = await this.#found(fileId, scope);
    await storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      const file = await storage.files.get(fileId, tx);
      if (file?.phase !== 'stored') throw noFile();
      await this.#putAway(tx, file);
    });
    await this.#discard({ fileId, owner });
  }

  /** Resolves when none is being stored. @internal */
  settled(): Promise<void> {
    return this.#inProgress.idle();
  }

  async #found(fileId: string, scope: FileScope): Promise<FileRecord> {
    const { owner } = checked('A call for a file', scope, SCOPE);
    const file = await this.#parts.storage.files.get(fileId);
    if (file?.phase === 'stored' && (owner === undefined || owner === file.owner)) return file;
    throw noFile();
  }

  /** The record is written first, so that what a crash leaves in the store is removed. */
  async #keep(owner: string, name: string, { kind }: NamedKind, received: Received): Promise<FileRecord> {
    const { storage, contents, quota, clock } = this.#parts;
    const { sizeBytes, sha256 } = received;
    const createdAtMs = clock.now();
    const fileId = `f${this.#ids.next()}`;
    const file: FileRecord = {
      ...{ fileId, owner, name, kind, sizeBytes, sha256, createdAtMs },
      phase: 'storing',
      contentId: `c${this.#ids.next()}`,
      dueAtMs: createdAtMs + STORED_WITHIN_MS,
    };
    const kept = await storage.transaction(async (tx) => {
      await storage.lockOwner(tx, owner);
      const earlier = await this.#place(tx, file);
      if (earlier?.sha256 === sha256) return { file: earlier, replaced: undefined };
      const same = await storage.files.withContent(owner, sha256, tx);
      await quota.assertAdds(tx, { owner, sizeBytes, isListed: !earlier, hasContent: same !== undefined });
      if (!same) await storage.files.insert(tx, file);
      else return this.#enter(tx, { ...file, contentId: same.contentId }, earlier, 'insert');
      return undefined;
    });
    if (kept) {
      await contents.putIfLost(kept.file, received);
      return this.#ended(kept);
    }
    try {
      await contents.put(file, received);
      const stored = await storage.transaction(async (tx) => {
        await storage.lockOwner(tx, owner);
        const earlier = await this.#place(tx, file);
        // All files of the owner were removed meanwhile.
        if ((await storage.files.get(fileId, tx))?.phase !== 'storing') throw noFile();
        return this.#enter(tx, file, earlier, 'update');
      });
      return this.#ended(stored);
    } catch (error) {
      // What can't be removed now is when its process counts as dead.
      await this.#parts.removal.withdraw(file).catch(() => {});
      throw error;
    }
  }

  /** The stored file that a new one replaces. Errors: of a name that is a folder, and of an owner who may add nothing. */
  async #place(tx: Transaction, { owner, name }: FileRecord): Promise<FileRecord | undefined> {
    const { files } = this.#parts.storage;
    await this.#parts.assertAdmitted(owner, tx);
    if (await files.isFolder(owner, name, tx)) throw sameAsFolder(name);
    for (const folder of foldersOf(name))
      if (await files.named(owner, folder, tx)) throw sameAsFolder(folder);
    return files.named(owner, name, tx);
  }

  async #enter(
    tx: Transaction,
    file: FileRecord,
    replaced: FileRecord | undefined,
    how: 'insert' | 'update',
  ) {
    if (replaced) await this.#putAway(tx, replaced);
    const stored: FileRecord = { ...file, phase: 'stored', dueAtMs: null };
    await this.#parts.storage.files[how](tx, stored);
    return { file: stored, replaced };
  }

  async #putAway(tx: Transaction, file: FileRecord): Promise<void> {
    const { storage, clock } = this.#parts;
    await storage.files.update(tx, { ...file, phase: 'removed', dueAtMs: clock.now() });
  }

  async #ended({
    file,
    replaced,
  }: {
    file: FileRecord;
    replaced: FileRecord | undefined;
  }): Promise<FileRecord> {
    if (replaced) await this.#discard(replaced);
    return file;
  }

  /** What can't be removed now is removed later. */
  async #discard(file: Pick<FileRecord, 'fileId' | 'owner'>): Promise<void> {
    await this.#parts.removal.discard(file).catch((err: unknown) => {
      this.#parts.logger.warn(
        { err },
        'A file that was removed is still stored; trying again in a few minutes.',
      );
    });
  }
}

function ownerFileOf({ fileId, owner, name, kind, sizeBytes, sha256, createdAtMs }: FileRecord): OwnerFile {
  return { fileId, owner, name, kind, sizeBytes, sha256, createdAt: isoTime(createdAtMs) };
}

function noFile(): ScenepressError {
  return new ScenepressError('not_found', 'There is no such file, or it has been removed.');
}
