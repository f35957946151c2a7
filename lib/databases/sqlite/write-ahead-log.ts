import { fstatSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { flushData, isOutOfSpace, realDisk, replaceFile } from '../../files/disk.ts';
import { type FileReader, openToRead } from '../../files/file-reader.ts';
import { damaged } from './connection.ts';
import { damagedFrame, sizeOfLog } from './log-frames.ts';

const PIECE_BYTES = 1024 * 1024;
const LONG_BYTES = 64 * 1024 * 1024;
/** Where SQLite's index of the log has the number of frames in use, in the byte order of the machine. */
const INDEX_FRAMES = 16;

/** The write-ahead log file of a database. */
export class WriteAheadLog {
  readonly #databasePath: string;
  readonly #path: string;
  readonly #flushFile: (descriptor: number) => Promise<void>;
  #file: FileHandle | undefined;
  #index: FileHandle | undefined;

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
      const frame = await damagedFrame(log);
      if (frame !== undefined) {
        const why = `its write-ahead log is damaged in page ${frame}; the commits after it can't be used`;
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

  /** Opens the log created by SQLite, and its index. */
  async open(): Promise<void> {
    this.#file = await open(this.#path, 'r+');
    this.#index = await open(`${this.#databasePath}-shm`, 'r');
  }

  /** Bytes in use. After a checkpoint, SQLite overwrites the log from its start. */
  get sizeBytes(): number {
    const frames = new Uint32Array(1);
    if (this.#index) readSync(this.#index.fd, frames, 0, frames.byteLength, INDEX_FRAMES);
    return sizeOfLog(frames[0] as number);
  }

  /** Whether its file is longer than usual: a long query had delayed checkpoints. */
  get isLong(): boolean {
    return fstatSync(this.#opened.fd).size > LONG_BYTES;
  }

  /** Flushes the log. */
  async flush(): Promise<void> {
    await this.#flushFile(this.#opened.fd);
  }

  /** Call it after the connections are closed: closing the index ends all locks that this process has on it. */
  async close(): Promise<void> {
    await this.#file?.close();
    await this.#index?.close();
    this.#file = undefined;
    this.#index = undefined;
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
