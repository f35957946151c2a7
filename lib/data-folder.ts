import { chmod, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AccountStore } from './accounts/account-store.ts';
import { FileAssetStore } from './assets/file-asset-store.ts';
import { ScenepressError } from './errors.ts';
import type { KeyStore } from './keys/key-store.ts';
import type { LedgerStore } from './ledger/ledger-store.ts';
import { type Disk, realDisk } from './storage/disk.ts';
import { checkFolder, explained } from './storage/folder-check.ts';
import { FolderLock } from './storage/folder-lock.ts';
import { SpareRoom, type SpareRoomOptions } from './storage/spare-room.ts';
import { SqlLedgerStore } from './storage/sql/sql-ledger-store.ts';
import { SqlStorage } from './storage/sql/sql-storage.ts';
import { type Flush, SqliteDatabase, type SqliteDatabaseOptions } from './storage/sqlite/sqlite-database.ts';
import type { Storage } from './storage/storage.ts';

/** Jobs with their sources, deliveries, books. */
export const DATABASE = 'database.sqlite';
/** While it is there, the database is being replaced by what could be saved of it. */
export const RECOVERING = 'recovering';
const ARTIFACTS = 'artifacts';

export interface DataFolderOptions extends Omit<SqliteDatabaseOptions, 'onNoRoom' | 'onFlush'> {
  spareRoom?: SpareRoomOptions;
}

/** How large the data is, in bytes. */
export interface DataStatistics {
  databaseBytes: number;
  /** Commits that are not in the database's main file yet. */
  logBytes: number;
}

/**
 * Everything in one folder of this machine: the embedded default.
 *
 * ```
 * database.sqlite jobs with their sources, deliveries and books; -wal, -shm: SQLite's own, part of it
 * artifacts/      what renders left
 * fonts/ python/ assets/   the studio's own material, for every scene to read
 * work/           renders in progress; `work.old-…`: what killed services left of theirs, about to be removed
 * spare-room      kept for ending what has begun when the disk runs full
 * master.key      seals webhook secrets; `master.key.next` while it is being replaced, `master.key.until-…`: former ones
 * damaged-…/      what a recovery replaced
 * lock            held by the process that owns the folder; lock.holder: which that is
 * ```
 */
export class DataFolder {
  /** Absolute: it stays the same folder when the program goes elsewhere. */
  readonly path: string;
  readonly #database: SqliteDatabase;
  readonly #lock: FolderLock;
  readonly #disk: Disk;
  #isOpen = false;
  /** Whether the disk has room for more than ending what has begun. */
  readonly room: SpareRoom;
  readonly storage: Storage;
  readonly ledgerStore: LedgerStore;
  readonly accountStore: AccountStore;
  readonly keyStore: KeyStore;
  readonly assets: FileAssetStore;
  /** Told of every group of commits that reached the disk. */
  onFlush: (flush: Flush) => void = () => {};

  constructor(folder: string, { spareRoom, ...options }: DataFolderOptions = {}) {
    this.path = resolve(folder);
    this.#disk = realDisk;
    this.#lock = new FolderLock(this.path);
    this.room = new SpareRoom(this.path, { disk: this.#disk, ...spareRoom });
    this.#database = new SqliteDatabase(join(this.path, DATABASE), {
      ...options,
      onNoRoom: () => this.room.ranOut(),
      onFlush: (flush) => this.onFlush(flush),
    });
    this.storage = new SqlStorage(this.#database);
    this.ledgerStore = new SqlLedgerStore(this.#database, this.storage);
    this.assets = new FileAssetStore(join(this.path, ARTIFACTS));
  }

  /** Where renders in progress keep their files. */
  get workFolder(): string {
    return join(this.path, 'work');
  }

  /**
   * Opens the folder, made when it isn't there. Errors: `storage_locked` when another process has it, `storage_damaged`,
   * `storage_failed` when it can't be read or written, `conflict` when it is a folder of something else.
   */
  async start(): Promise<void> {
    if (this.#isOpen) return;
    try {
      await this.#refuseHalfRecovered();
      await checkFolder(this.#disk, this.path);
      await this.#disk.makeFolder(this.path);
      await this.#lock.acquire();
      await this.storage.start();
      await this.assets.start();
      this.#isOpen = true;
    } catch (error) {
      await this.storage.stop();
      this.#lock.release();
      throw explained(error, this.path);
    }
  }

  async statistics(): Promise<DataStatistics> {
    const sizeOf = async (name: string) =>
      (await stat(join(this.path, name)).catch(() => undefined))?.size ?? 0;
    return { databaseBytes: await sizeOf(DATABASE), logBytes: await sizeOf(`${DATABASE}-wal`) };
  }

  /** A secret that is sealed with the master key, for {@link loadMasterKey}; undefined when there is none. */
  async anySealedSecret(): Promise<string | undefined> {
    return (await this.keyStore.listKeys())[0]?.webhookSecretSealed ?? (await this.storage.anySealedSecret());
  }

  /** Writes jobs, accounts, keys and books into another folder, as of one moment, while the service goes on. */
  copyDatabase(folder: string): Promise<void> {
    return this.#database.copyTo(join(folder, DATABASE));
  }

  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.storage.stop();
    this.#lock.release();
  }

  /** Lets other users through to what they can open, as renders without bubblewrap need; they can't list the folder. */
  async letThrough(): Promise<void> {
    await chmod(this.path, 0o711);
  }

  async #refuseHalfRecovered(): Promise<void> {
    if ((await this.#disk.read(join(this.path, RECOVERING))) === undefined) return;
    throw new ScenepressError(
      'storage_damaged',
      `A recovery of ${this.path} was interrupted. Run \`scenepress recover\` again.`,
    );
  }
}
