import { fstatSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { flushData, isOutOfSpace, realDisk, replaceFile } from '../../disk.ts';
import { type FileReader, openToRead } from '../../file-reader.ts';
import { damaged } from './connection.ts';
import { damageOf } from './log-frames.ts';

const PIECE_BYTES = 1024 * 1024;

/** The write-ahead log file of a database. */
export class WriteAheadLog {
  readonly #databasePath: string;
  readonly #path: string;
  readonly #flushFile: (descriptor: number) => Promise<void>;
  #file: FileHandle | undefined;

  constructor(databasePath: string, flushFile: (descriptor: number) => Promise<void> = flushData) {
    this.#databasePath = databasePath;
    this.#path = `${databasePath}-wal`;
    this.#flushFile = flushFile;
  }

  /**
   * Rewrites the log of an earlier process before the database is opened. If one of its flushes failed, the page
   * cache holds pages that are marked clean but not on disk; another fsync would not write them. Error:
   * `storage_damaged` when the log is damaged, because SQLite would silently drop all commits after the damage.
   */
  async rewrite(): Promise<void> {
    const log = await openToRead(this.#path);
    if (!log) return;
    try {
      if (log.sizeBytes === 0) return;
      const damage = await damageOf(log);
      if (damage) {
        const why = `of the ${damage.frames} pages in its log, none after the first ${damage.frame} can be used`;
        throw damaged(this.#databasePath, why);
      }
      await replaceFile(realDisk, dirname(this.#path), basename(this.#path), piecesOf(log));
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      await this.#rewriteInPlace(log);
    } finally {
      await log.close();
    }
  }

  /** For a full disk: overwrites the log with the same bytes. */
  async #rewriteInPlace(log: FileReader): Promise<void> {
    const file = await realDisk.open(this.#path, 'existing');
    try {
      let position = 0;
      for await (const piece of piecesOf(log)) {
        await file.write(piece, position);
        position += piece.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Opens the log created by SQLite. */
  async open(): Promise<void> {
    this.#file = await open(this.#path, 'r+');
  }

  get sizeBytes(): number {
    return fstatSync(this.#opened.fd).size;
  }

  /** Flushes the log. */
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

async function* piecesOf({ sizeBytes, read }: FileReader): AsyncGenerator<Buffer> {
  for (let position = 0; position < sizeBytes; position += PIECE_BYTES)
    yield await read(position, Math.min(PIECE_BYTES, sizeBytes - position));
}
