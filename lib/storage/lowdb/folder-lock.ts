import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ScenepressError } from '../../errors.ts';
import { isNoRoom } from '../spare-room.ts';

const SQLITE_BUSY = 5;
const OWNERS_ALONE = 0o600;

/**
 * Keeps a second process out of a data folder. Node has no `flock`; an exclusive SQLite transaction on a file of
 * the folder is one, and the kernel releases it when the process ends, however it ends.
 */
export class FolderLock {
  readonly #folder: string;
  #database: DatabaseSync | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws `storage_locked`, naming the owner's process id, when another process holds the folder. */
  async acquire(): Promise<void> {
    const database = new DatabaseSync(this.#lockFile(), { timeout: 0 });
    try {
      // With a journal of its own on the disk, it would need room there.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
      const owner = (await readFile(this.#ownerFile(), 'utf8').catch(() => '')).trim();
      throw new ScenepressError(
        'storage_locked',
        `The data folder ${this.#folder} is in use by another process${owner && ` (process id ${owner})`}. ` +
          'Stop that one first, or use another folder.',
        { cause: error },
      );
    }
    this.#database = database;
    // Whoever may read it may lock it. Not opened for this: closing it again would give up the lock.
    chmodSync(this.#lockFile(), OWNERS_ALONE);
    try {
      writeFileSync(this.#ownerFile(), `${process.pid}\n`, { mode: OWNERS_ALONE });
    } catch (error) {
      if (!isNoRoom(error)) throw error; // It only helps those who find the folder taken.
    }
  }

  release(): void {
    if (!this.#database) return;
    rmSync(this.#ownerFile(), { force: true });
    this.#database.close();
    this.#database = undefined;
  }

  #lockFile(): string {
    return join(this.#folder, 'lock');
  }

  #ownerFile(): string {
    return join(this.#folder, 'lock.pid');
  }
}
