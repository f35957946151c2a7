import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, constants, copyFile, link, mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { AssetStore } from '../assets/asset-store.ts';
import { ScenepressError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { isOutOfSpace, makeFolderWithin } from '../files/disk.ts';
import type { FolderPlace } from '../files/folder-place.ts';
import { namedIfFull } from '../files/shortage.ts';
import { contentKeyOf, type FileRecord, type FileSet } from '../model/owner-file.ts';
import type { FileStore } from '../storage/file-store.ts';
import { filesOf } from './file-sets.ts';
import { foldersOf } from './names.ts';

/** A folder with files, which is there until it is released. */
export interface FileTree {
  /** Absolute. */
  path: string;
  release: () => void;
}

/** Something in the work folder, at a path that nothing else gets. */
interface Kept {
  path: string;
  /** Resolves when it is complete. */
  made: Promise<void>;
}

/** A folder that is kept for further jobs. */
interface KeptTree extends Kept {
  users: number;
  /** Bytes that its folders and links take. */
  sizeBytes: number;
  /** Bytes, by content. */
  contents: ReadonlyMap<string, number>;
}

/** Scenes may run as other users, who can read what they are given, and list nothing else. */
const PASSABLE = 0o711;
const LISTED = 0o755;
const READABLE = 0o444;
/** What a file or a folder takes, whatever is in it: there are as few inodes as one for so many bytes of a disk. */
const INODE_BYTES = 16 * 1024;
/** What another name of a file takes. */
const LINK_BYTES = 256;

/**
 * The folders of files that scenes on this machine read, one for each set of files. Contents are fetched from the asset
 * store, compared with their digests, and kept within a limit: sets that were used last stay. Owners share nothing.
 */
export class FileTrees {
  readonly #files: FileStore;
  readonly #assets: AssetStore;
  readonly #folder: string;
  readonly #place: Pick<FolderPlace, 'known'> | undefined;
  readonly #mostBytes: number;
  readonly #logger: Logger;
  /** The set that was used last comes last. */
  readonly #trees = new Map<string, KeptTree>();
  /** What was fetched, or is being fetched, by content. */
  readonly #contents = new Map<string, Kept>();
  #count = 0;

  /** `folder`: within the work folder, whose content a start removes. */
  constructor(parts: {
    files: FileStore;
    assets: AssetStore;
    folder: string;
    place: Pick<FolderPlace, 'known'> | undefined;
    mostBytes: number;
    logger: Logger;
  }) {
    this.#files = parts.files;
    this.#assets = parts.assets;
    this.#folder = parts.folder;
    this.#place = parts.place;
    this.#mostBytes = parts.mostBytes;
    this.#logger = parts.logger;
  }

  /**
   * The folder of a set of files, until it is released. What no job uses makes room for it when the disk is full. Errors:
   * `not_found` when a file has been removed meanwhile; `storage_failed` when the store has another content;
   * `storage_full`; those of the stores and the disk.
   */
  async take(set: FileSet): Promise<FileTree> {
    try {
      return await this.#take(set);
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
    }
    await this.#trim(0);
    return this.#take(set).catch((error: unknown) => {
      throw namedIfFull(error);
    });
  }

  async #take(set: FileSet): Promise<FileTree> {
    const { setId } = set;
    await this.#forgetLost(setId);
    const tree = this.#used(setId) ?? (await this.#begin(set));
    let isTaken = true;
    const release = () => {
      if (isTaken) tree.users -= 1;
      isTaken = false;
      void this.#trim();
    };
    try {
      await tree.made;
      return { path: tree.path, release };
    } catch (error) {
      if (this.#trees.get(setId) === tree) this.#trees.delete(setId);
      await rm(tree.path, { recursive: true, force: true }).catch(() => {});
      release();
      throw error;
    }
  }

  /** The work folder may have been replaced. */
  async #forgetLost(setId: string): Promise<void> {
    const tree = this.#trees.get(setId);
    if (!tree) return;
    await tree.made.catch(() => {});
    const isThere = await stat(tree.path).then(
      () => true,
      () => false,
    );
    if (isThere || this.#trees.get(setId) !== tree) return;
    this.#trees.clear();
    this.#contents.clear();
  }

  /** A known tree, with another user. */
  #used(setId: string): KeptTree | undefined {
    const tree = this.#trees.get(setId);
    if (!tree) return undefined;
    tree.users += 1;
    this.#trees.delete(setId);
    this.#trees.set(setId, tree);
    return tree;
  }

  async #begin(set: FileSet): Promise<KeptTree> {
    const files = await filesOf(this.#files, set);
    if (files.length < set.entries.length)
      throw new ScenepressError(
        'not_found',
        'A file of the job is lost. Put it again, and render the scene as a new job.',
      );
    const known = this.#used(set.setId);
    if (known) return known;
    const path = this.#newPath('sets', set.setId);
    const contents = new Map(files.map(({ contentId, sizeBytes }) => [contentId, sizeBytes + INODE_BYTES]));
    const folders = new Set(['', ...files.flatMap(({ name }) => foldersOf(name))]);
    const sizeBytes = folders.size * INODE_BYTES + files.length * LINK_BYTES;
    const tree = { path, users: 1, sizeBytes, contents, made: this.#make(path, files) };
    tree.made.catch(() => {}); // Awaited by those that take it.
    this.#trees.set(set.setId, tree);
    return tree;
  }

  async #make(path: string, files: readonly FileRecord[]): Promise<void> {
    for (const name of ['', 'contents', 'sets']) {
      const folder = join(this.#folder, name);
      makeFolderWithin(folder, PASSABLE, this.#place?.known);
      await chmod(folder, PASSABLE);
    }
    await makeListed(path);
    for (const file of files) {
      const content = this.#fetched(file);
      await content.made;
      const target = join(path, file.name);
      for (const folder of foldersOf(file.name)) await makeListed(join(path, folder));
      // A file has a limited number of links.
      await link(content.path, target).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EMLINK') throw error;
        return copyFile(content.path, target, constants.COPYFILE_EXCL);
      });
    }
  }

  #fetched(file: FileRecord): Kept {
    const { contentId } = file;
    const known = this.#contents.get(contentId);
    if (known) return known;
    const path = this.#newPath('contents', contentId);
    const content = { path, made: this.#fetch(file, path) };
    content.made.catch(() => this.#contents.delete(contentId));
    this.#contents.set(contentId, content);
    return content;
  }

  async #fetch(file: FileRecord, path: string): Promise<void> {
    const opened = await this.#assets.open(contentKeyOf(file));
    if (!opened)
      throw new ScenepressError(
        'not_found',
        `The content of ${file.name} is lost. Put the file again, and render the scene again.`,
      );
    const digest = createHash('sha256');
    const digested = async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        digest.update(piece);
        yield piece;
      }
    };
    try {
      await pipeline(opened.stream, digested, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      if (digest.digest('hex') !== file.sha256)
        throw new ScenepressError(
          'storage_failed',
          `${file.name} is not what was stored: its digest differs.`,
        );
      await chmod(path, READABLE);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  /** Removes what was used longest ago while all is too large together, and contents that no folder has any more. */
  async #trim(mostBytes = this.#mostBytes): Promise<void> {
    const paths: string[] = [];
    for (const [setId, tree] of this.#trees) {
      if (this.#keptBytes() <= mostBytes) break;
      if (tree.users > 0) continue;
      this.#trees.delete(setId);
      paths.push(tree.path);
    }
    const left = this.#keptContents();
    for (const [contentId, { path }] of this.#contents) {
      if (left.has(contentId)) continue;
      this.#contents.delete(contentId);
      paths.push(path);
    }
    try {
      for (const path of paths) await rm(path, { recursive: true, force: true });
    } catch (err) {
      this.#logger.warn({ err }, 'Files of jobs could not be removed from the work folder.');
    }
  }

  #keptContents(): Map<string, number> {
    return new Map([...this.#trees.values()].flatMap(({ contents }) => [...contents]));
  }

  #keptBytes(): number {
    const ofTrees = [...this.#trees.values()].map(({ sizeBytes }) => sizeBytes);
    return [...ofTrees, ...this.#keptContents().values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  #newPath(folder: string, id: string): string {
    this.#count += 1;
    return join(this.#folder, folder, `${id}-${this.#count}`);
  }
}

/** Whatever the umask of this process is. */
async function makeListed(folder: string): Promise<void> {
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await chmod(folder, LISTED);
}
