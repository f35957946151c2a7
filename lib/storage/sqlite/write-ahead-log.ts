import { fdatasync, fstatSync } from 'node:fs';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { isNoRoom, realDisk, replaceFile } from '../../disk.ts';
import { damaged } from './connection.ts';
import { damageOf } from './log-frames.ts';

/** The file that commits are written to before a checkpoint copies them into the database. */
export class WriteAheadLog {
  readonly #databasePath: string;
  readonly #path: string;
  readonly #flushFile: (descriptor: number) => Promise<void>;
  #file: FileHandle | undefined;

  constructor(databasePath: string, flushFile: (descriptor: number) => Promise<void> = promisify(fdatasync)) {
    this.#databasePath = databasePath;
    this.#path = `${databasePath}-wal`;
    this.#flushFile = flushFile;
  }

  /**
   * Before the database is opened: writes what a process left behind once more. If a flush of its failed, the system's
   * cache shows bytes that aren't on the medium and that it takes for written; flushing them again would do nothing.
   * Error: `storage_damaged`, because SQLite would leave out all commits after a damaged place without a word.
   */
  async rewrite(): Promise<void> {
    const found = await stat(this.#path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (!found || found.size === 0) return;
    const bytes = await readFile(this.#path);
    const damage = damageOf(bytes);
    if (damage) {
      const why = `of the ${damage.frames} pages in its log, none after the first ${damage.frame} can be used`;
      throw damaged(this.#databasePath, why);
    }
    try {
      await replaceFile(realDisk, dirname(this.#path), basename(this.#path), [bytes]);
    } catch (error) {
      if (!isNoRoom(error)) throw error;
      await this.#rewriteInPlace(bytes);
    }
  }

  /** On a full disk. What is on the medium already is written over with the same. */
  async #rewriteInPlace(bytes: Buffer): Promise<void> {
    const file = await realDisk.open(this.#path, 'existing');
    try {
      await file.write(bytes, 0);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Opens what SQLite has made. */
  async open(): Promise<void> {
    this.#file = await open(this.#path, 'r+');
  }

  get sizeBytes(): number {
    return fstatSync(this.#opened.fd).size;
  }

  /** Resolves when all that was written is on the medium. */
  async flush(): Promise<void> {
    await this.#flushFile(this.#opened.fd);
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  get #opened(): FileHandle {
    if (!this.#file) throw new Error('the log is open');
    return this.#file;
  }
}
