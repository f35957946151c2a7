import { chmod, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AccountStore } from '../accounts/account-store.ts';
import { FileAssetStore } from '../assets/file-asset-store.ts';
import { type Disk, realDisk } from '../disk.ts';
import { DOCUMENT_FILES, Documents } from '../documents/documents.ts';
import { ScenepressError } from '../errors.ts';
import { explained } from '../folder-faults.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { MasterKeyFiles, type MasterKeyOptions } from '../keys/master-key-files.ts';
import type { MasterKeys } from '../keys/master-keys.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import type { SettingsStore } from '../settings/settings-store.ts';
import { SqlLedgerStore } from '../sql/sql-ledger-store.ts';
import { SqlStorage } from '../sql/sql-storage.ts';
import { SQLITE_SCHEMA } from '../sql/sqlite/schema.ts';
import { type Flush, SqliteDatabase, type SqliteDatabaseOptions } from '../storage/sqlite/sqlite-database.ts';
import type { Storage } from '../storage/storage.ts';
import { checkFolder } from './folder-check.ts';
import { FolderLock } from './folder-lock.ts';
import { SpareRoom, type SpareRoomOptions } from './spare-room.ts';

/** Jobs with their sources, deliveries, books. */
export const DATABASE = 'database.sqlite';
/** While it is there, the database is being replaced by what could be saved of it. */
export const RECOVERING = 'recovering';
const ARTIFACTS = 'artifacts';

export interface DataFolderOptions extends Omit<SqliteDatabaseOptions, 'onNoRoom' | 'onFlush'> {
  spareRoom?: SpareRoomOptions;
  /** What all but the database is written with. Default: the machine's own. */
  disk?: Disk;
}

/** How large the data is, in bytes. */
export interface DataStatistics {
  databaseBytes: number;
  /** Commits that are not in the database's main file yet. */
  logBytes: number;
  /** Accounts, keys and settings. */
  documentBytes: number;
}

/**
 * Everything in one folder of this machine: the embedded default.
 *
 * ```
 * database.sqlite jobs with their sources, deliveries and books; -wal, -shm: SQLite's own, part of it
 * accounts.json keys.json settings.json   documents, for people too
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
  readonly #documents: Documents;
  readonly masterKeyFiles: MasterKeyFiles;
  /** The last of what must not happen at the same time. */
  #last: Promise<unknown> = Promise.resolve();
  #isOpen = false;
  /** Whether the disk has room for more than ending what has begun. */
  readonly room: SpareRoom;
  readonly storage: Storage;
  readonly ledgerStore: LedgerStore;
  readonly accountStore: AccountStore;
  readonly keyStore: KeyStore;
  readonly settings: SettingsStore;
  readonly assets: FileAssetStore;
  /** Told of every group of commits that reached the disk. */
  onFlush: (flush: Flush) => void = () => {};

  constructor(folder: string, { spareRoom, disk = realDisk, ...options }: DataFolderOptions = {}) {
    this.path = resolve(folder);
    this.#disk = disk;
    this.#lock = new FolderLock(this.path);
    this.room = new SpareRoom(this.path, { disk: this.#disk, ...spareRoom });
    const onNoRoom = () => this.room.ranOut();
    this.#database = new SqliteDatabase(join(this.path, DATABASE), SQLITE_SCHEMA, {
      ...options,
      onNoRoom,
      onFlush: (flush) => this.onFlush(flush),
    });
    this.storage = new SqlStorage(this.#database);
    this.ledgerStore = new SqlLedgerStore(this.#database, this.storage);
    this.#documents = new Documents({ disk: this.#disk, folder: this.path, onNoRoom });
    this.accountStore = this.#documents.accounts;
    this.keyStore = this.#documents.keys;
    this.settings = this.#documents.settings;
    this.masterKeyFiles = new MasterKeyFiles(this.path, this.#disk);
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
      await this.#documents.start();
      await this.assets.start();
      this.#isOpen = true;
    } catch (error) {
      await this.#close();
      throw explained(error, this.path);
    }
  }

  async statistics(): Promise<DataStatistics> {
    const sizeOf = async (...names: string[]) => {
      const found = await Promise.all(
        names.map((name) => stat(join(this.path, name)).catch(() => ({ size: 0 }))),
      );
      return found.reduce((sum, { size }) => sum + size, 0);
    };
    return {
      databaseBytes: await sizeOf(DATABASE),
      logBytes: await sizeOf(`${DATABASE}-wal`),
      documentBytes: await sizeOf(...DOCUMENT_FILES),
    };
  }

  /** What secrets are sealed with: the same object until {@link stop}. Errors: `master_key`. */
  masterKeys(options: MasterKeyOptions = {}): Promise<MasterKeys> {
    return this.masterKeyFiles.load(options);
  }

  /** Runs what must not happen at the same time: a backup must not get secrets of one master key with another. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done.catch(() => {});
    return done;
  }

  /**
   * Writes jobs, books and documents into another folder, while the service goes on: jobs and books as of one moment, and
   * the documents after them, so accounts and keys that jobs refer to are there.
   */
  async copyDatabase(folder: string): Promise<void> {
    await this.#database.copyTo(join(folder, DATABASE));
    await this.#documents.copyTo(folder);
  }

  /** A job whose source should be there and isn't. */
  async jobWithoutSource(): Promise<string | undefined> {
    const [row] = await this.#database.aside<{ job_id: string }>(
      `SELECT job_id FROM jobs WHERE forgotten_at_ms IS NULL
         AND NOT EXISTS (SELECT 1 FROM sources WHERE sources.job_id = jobs.job_id) LIMIT 1`,
    );
    return row?.job_id;
  }

  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#close();
  }

  async #close(): Promise<void> {
    await this.#documents.stop();
    this.masterKeyFiles.close();
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
