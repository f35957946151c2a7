import { chmod, readdir, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AccountStore } from './accounts/account-store.ts';
import { FileAssetStore } from './assets/file-asset-store.ts';
import type { KeyStore } from './keys/key-store.ts';
import type { LedgerStore } from './ledger/ledger-store.ts';
import { type Disk, realDisk } from './storage/disk.ts';
import { checkFolder, explained } from './storage/folder-check.ts';
import { type Flush, LowdbDatabase, type LowdbDatabaseOptions } from './storage/lowdb/database.ts';
import { LowdbAccountStore } from './storage/lowdb/lowdb-account-store.ts';
import { LowdbKeyStore } from './storage/lowdb/lowdb-key-store.ts';
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
}

/**
 * Everything in one folder of this machine: the embedded default.
 *
 * ```
 * database.jsonl  what is in memory, as of some moment: queue, accounts, keys, balances
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
  /** Whether the disk has room for more than ending what has begun. */
  readonly room: SpareRoom;
  readonly storage: Storage;
  readonly ledgerStore: LedgerStore;
  readonly accountStore: AccountStore;
  readonly keyStore: KeyStore;
  readonly assets: FileAssetStore;
  /** Told of every group of commits that reached the disk. */
  onFlush: (flush: Flush) => void = () => {};

  constructor(folder: string, options: DataFolderOptions = {}) {
    const path = resolve(folder);
    this.#disk = options.disk ?? realDisk;
    this.room = new SpareRoom(path, { disk: this.#disk, ...options.spareRoom });
    const database = new LowdbDatabase(path, {
      onNoRoom: () => this.room.ranOut(),
      onFlush: (flush) => this.onFlush(flush),
      ...options,
    });
    this.path = path;
    this.#database = database;
    this.storage = new LowdbStorage(database);
    this.ledgerStore = new LowdbLedgerStore(database, this.storage);
    this.accountStore = new LowdbAccountStore(database);
    this.keyStore = new LowdbKeyStore(database);
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
      await this.#moveFormerArtifacts();
      await this.assets.start();
    } catch (error) {
      await this.storage.stop();
      throw explained(error, this.path);
    }
  }

  /** Looks at the files, not at what is in them. */
  async statistics(): Promise<DataStatistics> {
    const statistics: DataStatistics = {
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
      else if (name === 'database.jsonl') {
        statistics.snapshotBytes = file.size;
        statistics.snapshotAtMs = file.mtimeMs;
      }
    }
    return statistics;
  }

  /** A secret that is sealed with the master key, for {@link loadMasterKey}; undefined when there is none. */
  async anySealedSecret(): Promise<string | undefined> {
    return (await this.keyStore.listKeys())[0]?.webhookSecretSealed ?? (await this.storage.anySealedSecret());
  }

  /** Writes jobs, accounts, keys and books into another folder, as of one moment, while the service goes on. */
  copyDatabase(folder: string): Promise<void> {
    return this.#database.copyTo(folder);
  }

  async stop(): Promise<void> {
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
