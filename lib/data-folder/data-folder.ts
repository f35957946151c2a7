import { chmod, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AccountStore } from '../accounts/account-store.ts';
import type { ActStore } from '../accounts/act-store.ts';
import type { SessionStore } from '../accounts/session-store.ts';
import { FileAssetStore } from '../assets/file-asset-store.ts';
import { EmitterBase } from '../async/emitter.ts';
import { OneAtATime } from '../async/one-at-a-time.ts';
import { SingleFlight } from '../async/single-flight.ts';
import { ScenepressError } from '../base/errors.ts';
import { known, type Names } from '../base/known-options.ts';
import { type Random, systemRandom } from '../base/random.ts';
import type { Flush, SqliteDatabaseOptions } from '../databases/sqlite/options.ts';
import { SqliteDatabase } from '../databases/sqlite/sqlite-database.ts';
import { DATA_FILES, DOCUMENT_FILES } from '../files/data-files.ts';
import { type Disk, realDisk, replaceFile } from '../files/disk.ts';
import { explained } from '../files/folder-faults.ts';
import { FolderLock } from '../files/folder-lock.ts';
import { FolderPlace, guarded } from '../files/folder-place.ts';
import { SpareSpace, type SpareSpaceOptions } from '../files/spare-space.ts';
import type { KeyStore } from '../keys/key-store.ts';
import type { KeyUseStore } from '../keys/key-use-store.ts';
import { MasterKeyFiles, type MasterKeyOptions } from '../keys/master-key-files.ts';
import type { MasterKeys } from '../keys/master-keys.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { QUALITY_NAMES } from '../model/qualities.ts';
import { SqlActStore } from '../sql/sql-act-store.ts';
import { SqlKeyUseStore } from '../sql/sql-key-use-store.ts';
import { SqlLedgerStore } from '../sql/sql-ledger-store.ts';
import { SqlSessionStore } from '../sql/sql-session-store.ts';
import { SqlStorage } from '../sql/sql-storage.ts';
import { SQLITE_SCHEMA } from '../sql/sqlite/schema.ts';
import { type WaitingWork, waitingWork } from '../sql/waiting-work.ts';
import type { InstallationRecords } from '../storage/installation-records.ts';
import type { SettingsStore } from '../storage/settings-store.ts';
import type { Storage } from '../storage/storage.ts';
import { type Clock, systemClock } from '../time/clock.ts';
import { type DocumentContents, Documents } from './documents/documents.ts';
import { checkFolder } from './folder-check.ts';
import { FolderInstallation } from './folder-installation.ts';

/** Options of {@link DataFolder}. */
export interface DataFolderOptions
  extends Omit<SqliteDatabaseOptions, 'clock' | 'onFullDisk' | 'onFlush' | 'assertWritable'> {
  clock?: Clock;
  /** @internal */
  spareSpace?: SpareSpaceOptions;
  /** The file system for everything but the database. Default: that of the machine. */
  /** @internal */
  disk?: Disk;
  /** The source of secrets, keys and nonces. Default: cryptographically secure. */
  random?: Random;
}

const OPTIONS: Names<DataFolderOptions> = {
  clock: true,
  logger: true,
  random: true,
  onFatal: true,
  flushFile: true,
  background: true,
  checkpointAfterBytes: true,
  spareSpace: true,
  disk: true,
};

/** Events of a {@link DataFolder}. */
export interface DataFolderEvents {
  /** Several commits were flushed together. */
  flush: [flush: Flush];
}

/** The size of the data, in bytes. */
export interface DataStatistics {
  /** The size of the database, in bytes. */
  databaseBytes: number;
  /** The size of the write-ahead log. */
  logBytes: number;
  /** Accounts, keys and settings. */
  documentBytes: number;
}

/**
 * Stores all data in one local folder, whose files are {@link DATA_FILES}; the default.
 *
 * ```ts
 * const dataFolder = new DataFolder('./data');
 * await dataFolder.start();
 * const service = new RenderService({ dataFolder, ledger: new StoredLedger({ store: dataFolder.ledgerStore }) });
 * ```
 */
export class DataFolder extends EmitterBase<DataFolderEvents> {
  /** Absolute, so it does not depend on the current directory. */
  readonly path: string;
  /** @internal */
  readonly database: SqliteDatabase;
  readonly #lock: FolderLock;
  readonly #disk: Disk;
  /** The source of time. */
  readonly clock: Clock;
  readonly #documents: Documents;
  /** The file `master.key`, and that of a replacement that is in progress. */
  readonly masterKeyFiles: MasterKeyFiles;
  /** Exclusive tasks, one after the other. */
  readonly #line = new OneAtATime();
  #isOpen = false;
  #backups = 0;
  readonly #starting = new SingleFlight();
  /** Watches whether the folder is still where it was opened. @internal */
  readonly place: FolderPlace;
  /** Watches the free disk space. @internal */
  readonly spareSpace: SpareSpace;
  /** The file `installation.json`. @internal */
  readonly installation: InstallationRecords;
  /** Jobs, queue and deliveries. */
  readonly storage: Storage;
  /** The books of a `StoredLedger`, in the same database as the jobs. */
  readonly ledgerStore: LedgerStore;
  /** The file `accounts.json`. */
  readonly accountStore: AccountStore;
  /** The file `keys.json`. */
  readonly keyStore: KeyStore;
  /** When keys were last used. */
  readonly keyUseStore: KeyUseStore;
  /** Sessions of the dashboard. */
  readonly sessionStore: SessionStore;
  /** The record of administrative acts. */
  readonly actStore: ActStore;
  /** The file `settings.json`. */
  readonly settings: SettingsStore;
  /** Artifacts, in the subfolder `artifacts`. */
  readonly assets: FileAssetStore;

  constructor(folder: string, given: DataFolderOptions = {}) {
    super();
    known('DataFolder', given, OPTIONS);
    const {
      spareSpace,
      disk: givenDisk = realDisk,
      clock = systemClock,
      random = systemRandom,
      ...options
    } = given;
    this.path = resolve(folder);
    this.clock = clock;
    this.place = new FolderPlace(this.path, { clock, logger: given.logger });
    const disk = guarded(givenDisk, this.place);
    this.#disk = disk;
    this.#lock = new FolderLock(this.path, { random });
    this.spareSpace = new SpareSpace(this.path, { disk, clock, random, ...spareSpace });
    const onFullDisk = () => this.spareSpace.ranOut();
    this.database = new SqliteDatabase(join(this.path, DATA_FILES.database), SQLITE_SCHEMA, {
      ...options,
      clock,
      onFullDisk,
      assertWritable: () => this.place.assert(),
      onFlush: (flush) => void this.emit('flush', flush),
    });
    this.installation = new FolderInstallation(this.path, disk);
    this.storage = Object.assign(new SqlStorage(this.database, random), { installation: this.installation });
    this.ledgerStore = new SqlLedgerStore(this.database, this.storage);
    this.keyUseStore = new SqlKeyUseStore(this.database);
    this.sessionStore = new SqlSessionStore(this.database);
    this.actStore = new SqlActStore(this.database);
    this.#documents = new Documents({ disk: this.#disk, folder: this.path, onFullDisk });
    this.accountStore = this.#documents.accounts;
    this.keyStore = this.#documents.keys;
    this.settings = this.#documents.settings;
    this.masterKeyFiles = new MasterKeyFiles(this.path, disk, { clock, random });
    this.assets = new FileAssetStore(join(this.path, DATA_FILES.artifacts), () => this.place.assert());
  }

  /** The folder for files of running renders. */
  get workFolder(): string {
    return join(this.path, DATA_FILES.work);
  }

  /**
   * Opens the folder; creates it when missing. Errors: `storage_locked` when another process has it,
   * `storage_damaged`, `storage_failed` when it cannot be read or written, `conflict` when it contains other data.
   */
  start(): Promise<void> {
    return this.#starting.run(() => this.#start());
  }

  async #start(): Promise<void> {
    if (this.#isOpen) return;
    try {
      await this.#refuseHalfRecovered();
      await this.#refuseMoved();
      await checkFolder(this.#disk, this.path);
      await this.#disk.makeFolder(this.path);
      await this.#lock.acquire();
      this.place.start();
      await this.storage.start();
      await this.#documents.start();
      await this.assets.start();
      this.#isOpen = true;
    } catch (error) {
      await this.#close();
      throw explained(error, this.path);
    }
  }

  /** Sizes and numbers of what the folder contains. */
  async statistics(): Promise<DataStatistics> {
    const sizeOf = async (...names: string[]) => {
      const found = await Promise.all(
        names.map((name) => stat(join(this.path, name)).catch(() => ({ size: 0 }))),
      );
      return found.reduce((sum, { size }) => sum + size, 0);
    };
    return {
      databaseBytes: await sizeOf(DATA_FILES.database),
      logBytes: await sizeOf(DATA_FILES.databaseLog),
      documentBytes: await sizeOf(...DOCUMENT_FILES),
    };
  }

  /** The master keys; the same object until {@link stop}. Error: `master_key`. */
  masterKeys(options: MasterKeyOptions = {}): Promise<MasterKeys> {
    return this.masterKeyFiles.load(options);
  }

  /** Runs exclusive tasks one at a time: a backup must not overlap with a replacement of the master key. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#line.run(work);
  }

  /** Contents of files must stay meanwhile: the copy of the database may refer to them. @internal */
  get isBeingBackedUp(): boolean {
    return this.#backups > 0;
  }

  /** Runs a backup. @internal */
  async backingUp<T>(work: () => Promise<T>): Promise<T> {
    this.#backups += 1;
    try {
      return await work();
    } finally {
      this.#backups -= 1;
    }
  }

  /**
   * Copies database and documents to another folder while the service runs. The database is copied as a snapshot, and
   * the documents after it, so they contain all accounts and keys that jobs refer to.
   */
  async copyDatabase(folder: string): Promise<void> {
    await this.database.copyTo(join(folder, DATA_FILES.database));
    await this.#documents.copyTo(folder);
  }

  /** The size of all artifacts that are kept, as recorded with their jobs. Reads all of these, in the background. */
  async artifactBytes(): Promise<number> {
    const [row] = await this.database.queryInBackground<{ bytes: number }>(
      `SELECT coalesce(sum(artifact.value ->> 'sizeBytes'), 0) AS bytes FROM jobs, json_each(jobs.artifacts) AS artifact
       WHERE phase = 'completed' AND artifacts <> '[]' AND artifacts_removed_at_ms IS NULL`,
    );
    return row?.bytes ?? 0;
  }

  /** The work that waits, by quality. */
  waitingWork(): Promise<WaitingWork[]> {
    return waitingWork(this.database, QUALITY_NAMES);
  }

  /** A fault in the structure of the database file, if any. Reads all of it, in the background. */
  async structuralFault(): Promise<string | undefined> {
    const [row] = await this.database.queryInBackground<{ quick_check: string }>('PRAGMA quick_check(1)');
    return row?.quick_check === 'ok' ? undefined : row?.quick_check;
  }

  /** The id of a job whose source is missing, if any. */
  async jobWithoutSource(): Promise<string | undefined> {
    const [row] = await this.database.queryInBackground<{ job_id: string }>(
      `SELECT job_id FROM jobs WHERE forgotten_at_ms IS NULL
         AND NOT EXISTS (SELECT 1 FROM sources WHERE sources.job_id = jobs.job_id) LIMIT 1`,
    );
    return row?.job_id;
  }

  /** Closes the database and unlocks the folder. */
  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#close();
  }

  async #close(): Promise<void> {
    await this.#documents.stop();
    this.masterKeyFiles.close();
    await this.storage.stop();
    // What is at the path may not be ours.
    const isLost = this.place.look();
    if (!isLost) await this.spareSpace.close();
    this.#lock.release({ leavesFiles: isLost });
    this.place.stop();
  }

  /** Lets other users traverse the folder but not list it, which renders without bubblewrap need. */
  async allowTraversal(): Promise<void> {
    await chmod(this.path, 0o711);
  }

  /** All accounts, keys and settings. @internal */
  documentContents(): Promise<DocumentContents> {
    return this.#documents.contents();
  }

  /** Adds accounts, keys and settings to a new folder. @internal */
  fillDocuments(contents: DocumentContents): Promise<void> {
    return this.#documents.fill(contents);
  }

  /** Prevents services from starting with the folder. @internal */
  async markMoved(target: string): Promise<void> {
    await replaceFile(this.#disk, this.path, DATA_FILES.moved, [Buffer.from(`${target}\n`)]);
  }

  async #refuseMoved(): Promise<void> {
    const target = (await this.#disk.read(join(this.path, DATA_FILES.moved)))?.toString().trim();
    if (target === undefined) return;
    throw new ScenepressError(
      'conflict',
      `The data in ${this.path} was moved to ${target} and is out of date here. Start the service with that ` +
        `database. To use this folder as it was then, remove ${join(this.path, DATA_FILES.moved)}.`,
    );
  }

  async #refuseHalfRecovered(): Promise<void> {
    if ((await this.#disk.read(join(this.path, DATA_FILES.recovering))) === undefined) return;
    throw new ScenepressError(
      'storage_damaged',
      `A recovery of ${this.path} was interrupted. Run \`scenepress recover\` again.`,
    );
  }
}
