import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '../user-error.ts';
import type { Archive } from './archive.ts';
import { flush, flushFileSystem, NotFlushed } from './flush.ts';
import { RootMark } from './root-mark.ts';
import { unpack } from './unpack.ts';

export interface UnpackEvents {
  /** `part` of it is done, from 0 to 1. */
  onProgress: (part: number) => void;
  /** Another process unpacks the same. */
  onWait: () => void;
  /** Ends it, and removes what it unpacked. */
  signal?: AbortSignal;
}

const SQLITE_BUSY = 5;
const RETRY_MS = 200;
/** Beside what is unpacked, other things grow on the same disk. */
const SPARE_BYTES = 64 * 1024 * 1024;
const PREFIX = 'root-';
const ROOT = /^root-\w+$/;
const UNFINISHED = 'unfinished-';

/**
 * The renderer root in a folder, unpacked once for each version.
 *
 * It gets its name when all of it is written, and is used from then on; putting it on the disk, which a slow one takes
 * long for, goes on meanwhile. A mark beside it tells one that is whole from one that a power cut left. Locks are SQLite
 * transactions on files beside it, which the kernel ends with the process: one process unpacks at a time, and versions
 * that no process uses any more are removed.
 */
export class UnpackedRoot {
  readonly path: string;
  readonly #archive: Archive;
  /** Where it and its locks are. */
  readonly folder: string;
  /** It is removed after its use, unless other processes use it. */
  readonly temporary: boolean;
  readonly #mark: RootMark;
  #use: DatabaseSync | undefined;
  /** Resolves when it is on the disk, or was not: then the next start tries again, or unpacks it anew. */
  flushed: Promise<void> = Promise.resolve();

  constructor({
    archive,
    folder,
    temporary = false,
  }: {
    archive: Archive;
    folder: string;
    temporary?: boolean;
  }) {
    this.#archive = archive;
    this.folder = folder;
    this.temporary = temporary;
    this.path = join(folder, `${PREFIX}${archive.name}`);
    this.#mark = new RootMark(this.path);
  }

  /** Unpacks it where it isn't yet, and keeps it from being removed until `stop`. */
  async start(events: UnpackEvents): Promise<void> {
    let isUsed: boolean;
    do {
      isUsed = !(await this.isWhole()) && (await this.#unpack(events)) === 'used';
      this.#use?.close();
      this.#use = lock(this.#useFile(this.path), 'shared');
      // A process of another version may have removed it in between.
    } while (isUsed ? !this.#use || !existsSync(this.path) : !(await this.isWhole()));
    if (!this.temporary && !isUsed && !(await this.#mark.isFlushed()))
      this.flushed = this.#flush().catch(() => {});
    await this.#removeOthers();
  }

  /** Lets it go: a temporary one is removed, unless another process uses it. */
  async end(): Promise<void> {
    this.stop();
    if (this.temporary) await this.#removeVersion(this.path);
  }

  stop(): void {
    this.#use?.close();
    this.#use = undefined;
  }

  /** Unpacked, and nothing of it missing. */
  async isWhole(): Promise<boolean> {
    return existsSync(this.path) && (await this.#mark.isThere());
  }

  async #flush(): Promise<void> {
    try {
      await flushFileSystem(this.path);
    } catch (error) {
      // Linux tells once that data was lost, so another flush would succeed.
      if (error instanceof NotFlushed) await this.#mark.remove();
      throw error;
    }
    await this.#mark.setFlushed();
  }

  /** Answers `used` when another process uses one that has no mark: then it found it whole, and goes on using it. */
  async #unpack({ onProgress, onWait, signal }: UnpackEvents): Promise<'unpacked' | 'used'> {
    await this.#makeFolder();
    this.stop(); // A lock of our own would look like another's.
    let unpacking = lock(join(this.folder, 'unpacking.lock'), 'exclusive');
    if (!unpacking) onWait();
    while (!unpacking) {
      await delay(RETRY_MS, undefined, { signal });
      unpacking = lock(join(this.folder, 'unpacking.lock'), 'exclusive');
    }
    try {
      if (await this.isWhole()) return 'unpacked';
      await this.#removeUnfinished();
      if (existsSync(this.path) && !(await this.#removeUnlessUsed())) return 'used';
      await this.#mark.remove();
      await this.#assertRoom();
      const unfinished = join(this.folder, `${UNFINISHED}${this.#archive.name}`);
      await mkdir(unfinished);
      await chmod(unfinished, 0o755);
      await unpack(this.#archive, unfinished, { onProgress, signal });
      if (!(await this.#mark.setWritten())) {
        await flushFileSystem(unfinished);
        await this.#mark.setFlushed();
      }
      await rename(unfinished, this.path);
      await flush(this.folder);
      return 'unpacked';
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (signal?.aborted) await this.#removeUnfinished();
      if (code !== 'ENOSPC' && code !== 'EDQUOT') throw cause;
      await this.#removeUnfinished();
      throw this.#noRoom(cause);
    } finally {
      unpacking.close();
    }
  }

  async #makeFolder(): Promise<void> {
    try {
      // Renders run under user ids of their own, which have to pass through.
      await mkdir(this.folder, { recursive: true, mode: 0o755 });
      if (process.getuid?.() === 0) await chmod(this.folder, 0o755);
    } catch (cause) {
      throw new UserError(
        `The renderer can't be unpacked in ${this.folder} (${(cause as NodeJS.ErrnoException).code}). ` +
          'Name a folder that this user may write to: --renderer-dir, or SCENEPRESS_RENDERER_DIR.',
        { cause },
      );
    }
  }

  async #assertRoom(): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    if (bavail * bsize < this.#archive.unpackedBytes + SPARE_BYTES) throw this.#noRoom();
  }

  #noRoom(cause?: unknown): UserError {
    const megabytes = Math.ceil((this.#archive.unpackedBytes + SPARE_BYTES) / 1e6);
    return new UserError(
      `The renderer can't be unpacked in ${this.folder}: it needs ${megabytes} MB of free space. Make room, or name ` +
        'another folder with --renderer-dir or SCENEPRESS_RENDERER_DIR.',
      { ...(cause !== undefined && { cause }) },
    );
  }

  async #removeUnfinished(): Promise<void> {
    for (const name of await readdir(this.folder)) {
      if (name.startsWith(UNFINISHED)) await rm(join(this.folder, name), { recursive: true, force: true });
    }
  }

  /** Removes other versions that nobody uses; what can't be removed is left. */
  async #removeOthers(): Promise<void> {
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      if (ROOT.test(name) && path !== this.path) await this.#removeVersion(path);
    }
  }

  /** Removes an unpacked root that no process uses; what can't be removed is left. */
  async #removeVersion(path: string): Promise<void> {
    if (!existsSync(path)) return;
    const unused = lock(this.#useFile(path), 'exclusive');
    if (!unused) return;
    try {
      await this.#remove(path);
      await new RootMark(path).remove();
      await rm(this.#useFile(path), { force: true });
    } catch {
      // Another user's.
    } finally {
      unused.close();
    }
  }

  /**
   * Versions without marks use what has none; one of these also takes ours for a root that nobody uses. And other machines
   * on a network file system, or containers, have another name for this start of theirs.
   */
  async #removeUnlessUsed(): Promise<boolean> {
    const unused = lock(this.#useFile(this.path), 'exclusive');
    if (!unused) return false;
    try {
      await this.#remove(this.path);
      return true;
    } finally {
      unused.close();
    }
  }

  /** Under another name first: half of a root must never have a root's name. */
  async #remove(path: string): Promise<void> {
    const doomed = join(this.folder, `${UNFINISHED}${basename(path)}`);
    await rename(path, doomed);
    await rm(doomed, { recursive: true, force: true });
  }

  #useFile(path: string): string {
    return `${path}.lock`;
  }
}

/** A lock on a file; undefined when another process holds it, or when this user can't write there and so needs none. */
function lock(file: string, kind: 'shared' | 'exclusive'): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    if (kind === 'exclusive') {
      database.exec('BEGIN EXCLUSIVE');
    } else {
      // The transaction takes its lock with the first read.
      database.exec('BEGIN');
      database.prepare('SELECT count(*) FROM sqlite_schema').get();
    }
    return database;
  } catch (error) {
    database?.close();
    if (kind === 'shared' || (error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}
