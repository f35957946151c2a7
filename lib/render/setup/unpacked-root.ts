import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, statfs } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ScenepressError } from '../../base/errors.ts';
import { DatabaseSync } from '../../base/node-sqlite.ts';
import { type Clock, delay, systemClock } from '../../time/clock.ts';
import { flush, flushFileSystem, NotFlushed } from '../environment/flush.ts';
import { RootMark } from '../environment/root-mark.ts';
import type { Archive } from './archive.ts';
import { unpack } from './unpack.ts';

export interface UnpackEvents {
  /** `part`: the completed fraction, 0 to 1. */
  onProgress: (part: number) => void;
  /** Called if another process is unpacking the same root. */
  onWait: () => void;
  /** Aborts unpacking and removes what was unpacked. */
  signal?: AbortSignal | undefined;
}

const SQLITE_BUSY = 5;
const RETRY_MS = 200;
/** Space left free for other data on the same disk. */
const SPARE_BYTES = 64 * 1024 * 1024;
const PREFIX = 'root-';
const ROOT = /^root-\w+$/;
const UNFINISHED = 'unfinished-';

/**
 * The renderer root in a folder, unpacked once for each version.
 *
 * It is renamed to its final name when it is completely written, and used from then on, while a slow disk may still
 * be flushing. A mark beside it distinguishes a complete root from one damaged by a power failure. Locks are SQLite
 * transactions on files beside it, which the kernel releases when the process ends: one process unpacks at a time,
 * and versions that no process uses are removed.
 */
export class UnpackedRoot {
  readonly path: string;
  readonly #archive: Archive;
  /** Folder of the root and its locks. */
  readonly folder: string;
  /** Whether it is removed after use, unless other processes use it. */
  readonly temporary: boolean;
  readonly #mark: RootMark;
  readonly #keepsOthers: boolean;
  readonly #finish: ((tree: string) => Promise<void>) | undefined;
  readonly #clock: Clock;
  #use: DatabaseSync | undefined;
  /** Resolves when the flush has ended. If it failed, the next start flushes or unpacks the root again. */
  flushed: Promise<void> = Promise.resolve();

  constructor({
    archive,
    folder,
    temporary = false,
    keepsOthers = false,
    finish,
    clock = systemClock,
  }: {
    archive: Archive;
    folder: string;
    temporary?: boolean;
    /** Keeps other versions: other installations may need them. */
    keepsOthers?: boolean;
    /** Completes an unpacked tree before it gets its name. */
    finish?: (tree: string) => Promise<void>;
    /** For the wait until another process has unpacked it. */
    clock?: Clock;
  }) {
    this.#keepsOthers = keepsOthers;
    this.#finish = finish;
    this.#clock = clock;
    this.#archive = archive;
    this.folder = folder;
    this.temporary = temporary;
    this.path = join(folder, `${PREFIX}${archive.name}`);
    this.#mark = new RootMark(this.path);
  }

  /** Unpacks the root if necessary and protects it from removal until `stop`. */
  async start(events: UnpackEvents): Promise<void> {
    let isUsed: boolean;
    do {
      isUsed = !(await this.isWhole()) && (await this.#unpack(events)) === 'used';
      this.#use?.close();
      this.#use = lock(this.#useFile(this.path), 'shared');
      // A process of another version may have removed it before the lock was taken.
    } while (isUsed ? !this.#use || !existsSync(this.path) : !(await this.isWhole()));
    if (!this.temporary && !isUsed && !(await this.#mark.isFlushed()))
      this.flushed = this.#flush().catch(() => {});
    if (!this.#keepsOthers) await this.#removeOthers();
  }

  /** Like `stop`, and removes a temporary root unless another process uses it. */
  async end(): Promise<void> {
    this.stop();
    if (this.temporary) await this.#removeVersion(this.path);
  }

  stop(): void {
    this.#use?.close();
    this.#use = undefined;
  }

  /** Whether the root is unpacked and complete. */
  async isWhole(): Promise<boolean> {
    return existsSync(this.path) && (await this.#mark.isThere());
  }

  async #flush(): Promise<void> {
    try {
      await flushFileSystem(this.path);
    } catch (error) {
      // Linux reports a write error only once, so another flush would succeed.
      if (error instanceof NotFlushed) await this.#mark.remove();
      throw error;
    }
    await this.#mark.setFlushed();
  }

  /** Resolves with `used` if another process uses an unmarked root, which it therefore found complete. */
  async #unpack({ onProgress, onWait, signal }: UnpackEvents): Promise<'unpacked' | 'used'> {
    await this.#makeFolder();
    this.stop(); // Our own lock would conflict.
    let unpacking = lock(join(this.folder, 'unpacking.lock'), 'exclusive');
    if (!unpacking) onWait();
    while (!unpacking) {
      await delay(this.#clock, RETRY_MS, signal);
      signal?.throwIfAborted();
      unpacking = lock(join(this.folder, 'unpacking.lock'), 'exclusive');
    }
    try {
      if (await this.isWhole()) return 'unpacked';
      await this.#removeUnfinished();
      if (existsSync(this.path) && !(await this.#removeUnlessUsed())) return 'used';
      await this.#mark.remove();
      await this.#assertFreeSpace();
      const unfinished = join(this.folder, `${UNFINISHED}${this.#archive.name}`);
      await mkdir(unfinished);
      await chmod(unfinished, 0o755);
      await unpack(this.#archive, unfinished, { onProgress, signal });
      await this.#finish?.(unfinished);
      if (!(await this.#mark.setWritten())) {
        await flushFileSystem(unfinished);
        await this.#mark.setFlushed();
      }
      await rename(unfinished, this.path);
      await flush(this.folder);
      return 'unpacked';
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (signal?.aborted || cause instanceof ScenepressError) await this.#removeUnfinished();
      if (code !== 'ENOSPC' && code !== 'EDQUOT') throw cause;
      await this.#removeUnfinished();
      throw this.#tooLittleSpace(cause);
    } finally {
      unpacking.close();
    }
  }

  async #makeFolder(): Promise<void> {
    try {
      // Renders run under other user ids, which need search permission.
      await mkdir(this.folder, { recursive: true, mode: 0o755 });
      if (process.getuid?.() === 0) await chmod(this.folder, 0o755);
    } catch (cause) {
      throw new ScenepressError(
        'renderer_unavailable',
        `The renderer can't be unpacked in ${this.folder} (${(cause as NodeJS.ErrnoException).code}). ` +
          'Choose a folder that this user may write to with SCENEPRESS_RENDERER_DIR.',
        { cause },
      );
    }
  }

  async #assertFreeSpace(): Promise<void> {
    const { bavail, bsize } = await statfs(this.folder);
    if (bavail * bsize < this.#archive.unpackedBytes + SPARE_BYTES) throw this.#tooLittleSpace();
  }

  #tooLittleSpace(cause?: unknown): ScenepressError {
    const megabytes = Math.ceil((this.#archive.unpackedBytes + SPARE_BYTES) / 1e6);
    return new ScenepressError(
      'renderer_unavailable',
      `The renderer can't be unpacked in ${this.folder}: it needs ${megabytes} MB of free space. Free some space, or ` +
        'choose another folder with SCENEPRESS_RENDERER_DIR.',
      { ...(cause !== undefined && { cause }) },
    );
  }

  async #removeUnfinished(): Promise<void> {
    for (const name of await readdir(this.folder)) {
      if (name.startsWith(UNFINISHED)) await rm(join(this.folder, name), { recursive: true, force: true });
    }
  }

  /** Removes other versions that no process uses; ignores errors. */
  async #removeOthers(): Promise<void> {
    for (const name of await readdir(this.folder)) {
      const path = join(this.folder, name);
      if (ROOT.test(name) && path !== this.path) await this.#removeVersion(path);
    }
  }

  /** Removes an unpacked root unless a process uses it; ignores errors. */
  async #removeVersion(path: string): Promise<void> {
    if (!existsSync(path)) return;
    const unused = lock(this.#useFile(path), 'exclusive');
    if (!unused) return;
    try {
      await this.#remove(path);
      await new RootMark(path).remove();
      await rm(this.#useFile(path), { force: true });
    } catch {
      // It belongs to another user.
    } finally {
      unused.close();
    }
  }

  /**
   * An unmarked root may be in use by other machines or containers on a shared file system, which have another boot id.
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

  /** Renames it first: a partly removed root must never have a root's name. */
  async #remove(path: string): Promise<void> {
    const doomed = join(this.folder, `${UNFINISHED}${basename(path)}`);
    await rename(path, doomed);
    await rm(doomed, { recursive: true, force: true });
  }

  #useFile(path: string): string {
    return `${path}.lock`;
  }
}

/** A lock on a file; undefined if another process holds it, or if this user can't write there and so needs none. */
function lock(file: string, kind: 'shared' | 'exclusive'): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    if (kind === 'exclusive') {
      database.exec('BEGIN EXCLUSIVE');
    } else {
      // The transaction acquires its lock at the first read.
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
