import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { ScenepressError } from '../base/errors.ts';
import { DatabaseSync } from '../base/node-sqlite.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { DATA_FILES } from './data-files.ts';
import { isOutOfSpace } from './disk.ts';

const SQLITE_BUSY = 5;
const OWNERS_ALONE = 0o600;

/** The process that holds a folder. */
interface Holder {
  pid: number;
  /** The token in the name of its socket. */
  token: string;
}

/**
 * An exclusive lock on a folder. Uses two mechanisms; the kernel releases both when the process ends.
 *
 * - An exclusive SQLite transaction on a file in the folder, or beside it, because Node has no `flock`. Works across containers,
 *   but is lost when the process itself opens and closes that file, as copying the folder does.
 * - An abstract socket, whose name is known only to those who can read the folder.
 */
export class FolderLock {
  readonly #folder: string;
  readonly #kind: 'data folder' | 'work folder';
  readonly #random: Random;
  #database: DatabaseSync | undefined;
  #server: Server | undefined;

  /**
   * `kind`: what the folder is; default: a data folder. The lock of a work folder is a file beside it. `random`: the source
   * of the socket's name.
   */
  constructor(
    folder: string,
    {
      random = systemRandom,
      kind = 'data folder',
    }: { random?: Random; kind?: 'data folder' | 'work folder' } = {},
  ) {
    this.#folder = folder;
    this.#kind = kind;
    this.#random = random;
  }

  /**
   * Errors: `storage_locked`, with the process id, when another process holds the folder; `storage_failed` when the
   * file cannot be locked.
   */
  async acquire(): Promise<void> {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(this.#lockFile, { timeout: 0 });
      // A journal on disk would need free space.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
      // Anyone who can read the file can lock it. Changed by path: opening and closing the file would release the
      // lock.
      chmodSync(this.#lockFile, OWNERS_ALONE);
      const holder = await this.#holder();
      if (holder && (await listens(holder.token))) throw this.#taken(holder);
      this.#database = database;
      await this.#listen();
    } catch (error) {
      this.#database = undefined;
      database?.close();
      const { code, errcode } = error as { code?: string; errcode?: number };
      if (errcode === SQLITE_BUSY) throw this.#taken(await this.#holder(), error);
      throw code === 'ERR_SQLITE_ERROR' ? this.#unusable(error as Error) : error;
    }
  }

  /** `leavesFiles`: another folder is at the path. */
  release({ leavesFiles = false }: { leavesFiles?: boolean } = {}): void {
    if (!this.#database) return;
    if (!leavesFiles) rmSync(this.#holderFile, { force: true });
    this.#server?.close();
    this.#server = undefined;
    this.#database.close();
    this.#database = undefined;
  }

  async #listen(): Promise<void> {
    const token = this.#random.bytes(16).toString('hex');
    const server = createServer((socket) => socket.destroy());
    server.listen(nameOf(token));
    await once(server, 'listening');
    server.unref();
    this.#server = server;
    const holder: Holder = { pid: process.pid, token };
    try {
      await writeFile(this.#holderFile, `${JSON.stringify(holder)}\n`, { mode: OWNERS_ALONE });
    } catch (error) {
      if (!isOutOfSpace(error)) throw error; // The file lock alone is sufficient.
    }
  }

  async #holder(): Promise<Holder | undefined> {
    try {
      return JSON.parse(await readFile(this.#holderFile, 'utf8')) as Holder;
    } catch {
      return undefined; // No holder, or one that could not write the file on a full disk.
    }
  }

  #taken(holder: Holder | undefined, cause?: unknown): ScenepressError {
    return new ScenepressError(
      'storage_locked',
      `The ${this.#kind} ${this.#folder} is in use by another process${holder ? ` (process id ${holder.pid})` : ''}. ` +
        'Stop that one first, or use another folder.',
      { cause },
    );
  }

  #unusable(cause: Error): ScenepressError {
    return new ScenepressError(
      'storage_failed',
      `The ${this.#kind} ${this.#folder} can't be used: its lock ${this.#lockFile} can't be taken (${cause.message}). ` +
        'If no other program made that file, remove it: it holds no data. The file system must support locks.',
      { cause },
    );
  }

  get #lockFile(): string {
    return this.#file(DATA_FILES.lock);
  }

  get #holderFile(): string {
    return this.#file(DATA_FILES.lockHolder);
  }

  /** The content of a work folder is removed. */
  #file(name: string): string {
    return this.#kind === 'work folder' ? `${this.#folder}.${name}` : join(this.#folder, name);
  }
}

/** An abstract socket needs no file and disappears with its process. */
function nameOf(token: string): string {
  return `\0scenepress-${token}`;
}

async function listens(token: string): Promise<boolean> {
  const socket = connect(nameOf(token));
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
