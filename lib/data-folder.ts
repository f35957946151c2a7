import { chmod, readdir, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AccountStore } from './accounts/account-store.ts';
import { FileAssetStore } from './assets/file-asset-store.ts';
import { DOCUMENT_FILES, Documents } from './documents/documents.ts';
import { formerRows, removeFormerRows } from './documents/former-rows.ts';
import type { KeyStore } from './keys/key-store.ts';
import { MasterKeyFiles, type MasterKeyOptions } from './keys/master-key-files.ts';
import type { MasterKeys } from './keys/master-keys.ts';
import type { LedgerStore } from './ledger/ledger-store.ts';
import type { SettingsStore } from './settings/settings-store.ts';
import { type Disk, realDisk } from './storage/disk.ts';
import { checkFolder, explained } from './storage/folder-check.ts';
import { type Flush, LowdbDatabase, type LowdbDatabaseOptions } from './storage/lowdb/database.ts';
import { LowdbLedgerStore } from './storage/lowdb/lowdb-ledger-store.ts';
import { LowdbStorage } from './storage/lowdb/lowdb-storage.ts';
import { SpareRoom, type SpareRoomOptions } from './storage/spare-room.ts';
import type { Storage } from './storage/storage.ts';

const ARTIFACTS = 'artifacts';
/** Where artifacts were at first. */
const FORMER_ARTIFACTS = 'assets';

export interface DataFolderOptions extends LowdbDatabaseOptions {
  spareRoom?: SpareRoomOptions;
}

/** How large the data is, and how it is written. */
export interface DataStatistics {
  /** What a start reads after the snapshot. */
  journalBytes: number;
  snapshotBytes: number;
  /** When the snapshot was written, in epoch milliseconds; null before the first. */
  snapshotAtMs: number | null;
  /** Jobs that are over, and the source code of scenes. */
  packBytes: number;
  /** Accounts, keys and settings. */
  documentBytes: number;
}

/**
 * Everything in one folder of this machine: the embedded default.
 *
 * ```
 * accounts.json keys.json settings.json   documents, for people too
 * database.jsonl  what is in memory, as of some moment: queue, balances
 * journal-…       and what has changed since
 * pack-…          jobs that are over with all that belongs to them, and the source code of scenes
 * artifacts/      what renders left
 * fonts/ python/ assets/   the studio's own material, for every scene to read
 * work/           renders in progress; `work.old-…`: what killed services left of theirs, about to be removed
 * spare-room      kept for ending what has begun when the disk runs full
 * master.key      seals webhook secrets; `master.key.next` while it is being replaced, `master.key.until-…`: former ones
 * format-…        what an upgrade replaced
 * damaged-…/      what a recovery replaced, rolled-back-…/ what a rollback did
 * lock            held by the process that owns the folder
 * ```
 */
export class DataFolder {
  /** Absolute: it stays the same folder when the program goes elsewhere. */
  readonly path: string;
  readonly #database: LowdbDatabase;
  readonly #disk: Disk;
  readonly #documents: Documents;
  readonly masterKeyFiles: MasterKeyFiles;
  /** The last of what must not happen at the same time. */
  #last: Promise<unknown> = Promise.resolve();
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

  constructor(folder: string, options: DataFolderOptions = {}) {
    const path = resolve(folder);
    this.#disk = options.disk ?? realDisk;
    this.room = new SpareRoom(path, { disk: this.#disk, ...options.spareRoom });
    const onNoRoom = () => this.room.ranOut();
    const database = new LowdbDatabase(path, {
      onNoRoom,
      onFlush: (flush) => this.onFlush(flush),
      ...options,
    });
    this.path = path;
    this.#database = database;
    this.storage = new LowdbStorage(database);
    this.ledgerStore = new LowdbLedgerStore(database, this.storage);
    this.#documents = new Documents({ disk: this.#disk, folder: path, onNoRoom });
    this.accountStore = this.#documents.accounts;
    this.keyStore = this.#documents.keys;
    this.settings = this.#documents.settings;
    this.masterKeyFiles = new MasterKeyFiles(path, this.#disk);
    this.assets = new FileAssetStore(join(path, ARTIFACTS));
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
    try {
      await checkFolder(this.#disk, this.path);
      await this.storage.start();
      await this.#documents.start(formerRows(this.#database));
      await removeFormerRows(this.#database);
      await this.#moveFormerArtifacts();
      await this.assets.start();
    } catch (error) {
      await this.stop();
      throw explained(error, this.path);
    }
  }

  /** Looks at the files, not at what is in them. */
  async statistics(): Promise<DataStatistics> {
    const statistics: DataStatistics = {
      documentBytes: 0,
      journalBytes: 0,
      snapshotBytes: 0,
      snapshotAtMs: null,
      packBytes: 0,
    };
    for (const name of (await namesIn(this.path)) ?? []) {
      const file = await stat(join(this.path, name)).catch(() => undefined);
      if (!file) continue; // A journal or a pack that isn't needed any more.
      if (/^journal-/.test(name)) statistics.journalBytes += file.size;
      else if (/^pack-/.test(name)) statistics.packBytes += file.size;
      else if (DOCUMENT_FILES.includes(name)) statistics.documentBytes += file.size;
      else if (name === 'database.jsonl') {
        statistics.snapshotBytes = file.size;
        statistics.snapshotAtMs = file.mtimeMs;
      }
    }
    return statistics;
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
    await this.#database.copyTo(folder);
    await this.#documents.copyTo(folder);
  }

  async stop(): Promise<void> {
    await this.#documents.stop();
    this.masterKeyFiles.close();
    await this.storage.stop();
  }

  /** Lets other users through to what they can open, as renders without bubblewrap need; they can't list the folder. */
  async letThrough(): Promise<void> {
    await chmod(this.path, 0o711);
  }

  async #moveFormerArtifacts(): Promise<void> {
    const former = join(this.path, FORMER_ARTIFACTS);
    if ((await namesIn(join(this.path, ARTIFACTS))) !== undefined) return;
    for (const name of (await namesIn(former)) ?? []) {
      if (!(await this.storage.getJob(name))) continue;
      await rename(former, join(this.path, ARTIFACTS));
      await realDisk.syncFolder(this.path);
      return;
    }
  }
}

/** Undefined when there is no such folder. */
function namesIn(folder: string): Promise<string[] | undefined> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
