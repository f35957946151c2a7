import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '../user-error.ts';
import type { Archive } from './archive.ts';
import { flushFolder, unpack } from './unpack.ts';

export interface UnpackEvents {
  /** `part` of it is done, from 0 to 1. */
  onProgress: (part: number) => void;
  /** Another process unpacks the same. */
  onWait: () => void;
}

const SQLITE_BUSY = 5;
const RETRY_MS = 200;
/** Beside what is unpacked, other things grow on the same disk. */
const SPARE_BYTES = 64 * 1024 * 1024;
const PREFIX = 'root-';
const UNFINISHED = 'unfinished-';

/**
 * The renderer root in a folder, unpacked once for each version.
 *
 * It gets its name when all of it is on the disk, so one that has its name is whole, whatever happened. Locks are SQLite
 * transactions on files beside it, which the kernel ends with the process: one process unpacks at a time, and versions
 * that no process uses any more are removed.
 */
export class UnpackedRoot {
  readonly path: string;
  readonly #archive: Archive;
  readonly #folder: string;
  #use: DatabaseSync | undefined;

  constructor({ archive, folder }: { archive: Archive; folder: string }) {
    this.#archive = archive;
    this.#folder = folder;
    this.path = join(folder, `${PREFIX}${archive.name}`);
  }

  /** Unpacks it where it isn't yet, and keeps it from being removed until `stop`. */
  async start(events: UnpackEvents): Promise<void> {
    do {
      if (!existsSync(this.path)) await this.#unpack(events);
      this.#use?.close();
      this.#use = lock(this.#useFile(this.path), 'shared');
      // A process of another version may have removed it in between.
    } while (!existsSync(this.path));
    await this.#removeOthers();
  }

  stop(): void {
    this.#use?.close();
    this.#use = undefined;
  }

  async #unpack({ onProgress, onWait }: UnpackEvents): Promise<void> {
    await this.#makeFolder();
    let unpacking = lock(join(this.#folder, 'unpacking.lock'), 'exclusive');
    if (!unpacking) onWait();
    while (!unpacking) {
      await delay(RETRY_MS);
      unpacking = lock(join(this.#folder, 'unpacking.lock'), 'exclusive');
    }
    try {
      if (existsSync(this.path)) return;
      await this.#removeUnfinished();
      await this.#assertRoom();
      const unfinished = join(this.#folder, `${UNFINISHED}${this.#archive.name}`);
      await mkdir(unfinished);
      await chmod(unfinished, 0o755);
      await unpack(this.#archive, unfinished, onProgress);
      await rename(unfinished, this.path);
      await flushFolder(this.#folder);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
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
      await mkdir(this.#folder, { recursive: true, mode: 0o755 });
      if (process.getuid?.() === 0) await chmod(this.#folder, 0o755);
    } catch (cause) {
      throw new UserError(
        `The renderer can't be unpacked in ${this.#folder} (${(cause as NodeJS.ErrnoException).code}). ` +
          'Name a folder that this user may write to: --renderer-dir, or SCENEPRESS_RENDERER_DIR.',
        { cause },
      );
    }
  }

  async #assertRoom(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    if (bavail * bsize < this.#archive.unpackedBytes + SPARE_BYTES) throw this.#noRoom();
  }

  #noRoom(cause?: unknown): UserError {
    const megabytes = Math.ceil((this.#archive.unpackedBytes + SPARE_BYTES) / 1e6);
    return new UserError(
      `The renderer can't be unpacked in ${this.#folder}: it needs ${megabytes} MB of free space. Make room, or name ` +
        'another folder with --renderer-dir or SCENEPRESS_RENDERER_DIR.',
      { ...(cause !== undefined && { cause }) },
    );
  }

  async #removeUnfinished(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      if (name.startsWith(UNFINISHED)) await rm(join(this.#folder, name), { recursive: true, force: true });
    }
  }

  /** Removes other versions that nobody uses; what can't be removed is left. */
  async #removeOthers(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      if (!name.startsWith(PREFIX) || name.endsWith('.lock') || path === this.path) continue;
      const unused = lock(this.#useFile(path), 'exclusive');
      if (!unused) continue;
      // Under another name first: half of a root must never have a root's name.
      const doomed = join(this.#folder, `${UNFINISHED}${name}`);
      try {
        await rename(path, doomed);
        await rm(doomed, { recursive: true, force: true });
        await rm(this.#useFile(path), { force: true });
      } catch {
        // Another user's.
      } finally {
        unused.close();
      }
    }
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
