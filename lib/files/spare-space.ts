import { EventEmitter } from 'node:events';
import { OneAtATime } from '../async/one-at-a-time.ts';
import { type Logger, silentLogger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { DISK_FULL, NO_MORE_FILES } from '../model/service-problems.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { DATA_FILES } from './data-files.ts';
import { type Disk, type FreeSpace, freeSpaceOf, isLess, isOutOfSpace, realDisk } from './disk.ts';

/**
 * More than the end of a running job writes: its record and its webhook's body, each with 200 KiB of metadata. The
 * rest is for other work in progress.
 */
const BYTES_PER_JOB = 1024 * 1024;
const BYTES_FOR_THE_REST = 2 * 1024 * 1024;

/** The space needed to finish all running jobs. */
export function spareBytesFor(workers: number): number {
  return workers * BYTES_PER_JOB + BYTES_FOR_THE_REST;
}

const CHUNK_BYTES = 1024 * 1024;
/** One spare file is reserved for so many bytes: 16 for the end of a job, 32 for the rest. */
const BYTES_PER_FILE = 64 * 1024;
const LOOK_AGAIN_MS = 5_000;

export interface SpareSpaceOptions {
  disk?: Disk;
  /** Returns what is available to this user on the file system of a folder. */
  freeSpace?: (folder: string) => Promise<FreeSpace>;
  lookAgainMs?: number;
}

/**
 * Disk space reserved for finishing work in progress: a file of random bytes (zeros take no space on some file
 * systems), and empty files, because file systems limit their number. They are deleted when the database cannot grow,
 * and created again when there is space. From the first failed write until then, no new work may start. Emits `available`
 * when the shortage ends. A file of a render that did not fit begins a shortage only if others would not fit either.
 *
 * ```
 *         ranOut(); or check() and free < the spare space              free ≥ twice the spare space
 * enough ─────────────────────────────────────────────────▶ short ──────────────────────────────────▶ enough
 * ```
 */
export class SpareSpace extends EventEmitter<{ available: [] }> {
  readonly #folder: string;
  readonly #disk: Disk;
  readonly #freeSpace: (folder: string) => Promise<FreeSpace>;
  readonly #lookAgainMs: number;
  readonly #clock: Clock;
  readonly #random: Random;
  #sizeBytes = 0;
  #short = false;
  #lacksFiles = false;
  #isReleased = false;
  #timer: Timer | undefined;
  #working: Promise<void> = Promise.resolve();
  /** Several services may use the folder. */
  readonly #starts = new OneAtATime();
  #logger: Logger = silentLogger;

  constructor(folder: string, options: SpareSpaceOptions & { clock: Clock; random: Random }) {
    super();
    this.#folder = folder;
    this.#disk = options.disk ?? realDisk;
    this.#freeSpace = options.freeSpace ?? freeSpaceOf;
    this.#lookAgainMs = options.lookAgainMs ?? LOOK_AGAIN_MS;
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** True while no new work may start: the remaining space is for work in progress. */
  get isShort(): boolean {
    return this.#short;
  }

  /** In a shortage: whether there is space, but the file system can hold no more files. */
  get lacksFiles(): boolean {
    return this.#lacksFiles;
  }

  /** Reserves `sizeBytes` of disk space; starts in the short state when that fails. */
  start(options: { sizeBytes: number; logger: Logger }): Promise<void> {
    return this.#starts.run(() => this.#start(options));
  }

  async #start({ sizeBytes, logger }: { sizeBytes: number; logger: Logger }): Promise<void> {
    this.#sizeBytes = sizeBytes;
    this.#logger = logger;
    const found = await this.#disk.read(this.#path);
    const files = await this.#disk.list(this.#files).catch((): string[] => []);
    if (found && found.length >= sizeBytes && files.length >= filesFor(sizeBytes)) return;
    await this.#take().catch((error: unknown) => {
      if (!isOutOfSpace(error)) throw error;
      this.#becomeShort();
    });
  }

  /** Keeps as much as there is for the next start, which needs some, if it was all released. */
  async close(): Promise<void> {
    if (!this.#isReleased) return;
    await this.#takeFiles(filesFor(BYTES_FOR_THE_REST)).catch(ignoreFullDisk);
    await this.#takeBytes(BYTES_FOR_THE_REST, { allowsLess: true }).catch(ignoreFullDisk);
    this.#isReleased = false;
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#working;
    this.#short = false;
    this.#sizeBytes = 0;
  }

  /** Starts a shortage and releases the reserved space, because the database could not grow. */
  ranOut(): Promise<void> {
    this.#becomeShort();
    return this.#then(() => this.#release());
  }

  /** Starts a shortage if little space is left. Call it when a file of a render did not fit and was removed. */
  check(): Promise<void> {
    return this.#then(async () => {
      if (this.#short || !isLess(await this.#measured(1), this.#times(1))) return;
      this.#becomeShort();
    });
  }

  /** Runs steps sequentially. */
  #then(step: () => Promise<void>): Promise<void> {
    this.#working = this.#working.then(step).catch((error: unknown) => {
      this.#logger.warn({ err: error, folder: this.#folder }, 'Managing the reserved disk space failed.');
    });
    return this.#working;
  }

  #becomeShort(): void {
    if (this.#short || this.#sizeBytes === 0) return;
    this.#short = true;
    void this.#then(() => this.#report());
    this.#timer = this.#clock.every(this.#lookAgainMs, () => void this.#then(() => this.#look()));
  }

  async #report(): Promise<void> {
    const free = await this.#measured(1);
    const { message } = this.#lacksFiles ? NO_MORE_FILES : DISK_FULL;
    this.#logger.error({ folder: this.#folder, freeBytes: free.bytes, freeFiles: free.files }, message);
  }

  async #release(): Promise<void> {
    this.#becomeShort(); // The file may have been created again meanwhile.
    await this.#remove();
  }

  async #look(): Promise<void> {
    if (!this.#short) return;
    const free = await this.#measured(2);
    if (isLess(free, this.#times(2))) return;
    try {
      await this.#take();
    } catch (error) {
      return ignoreFullDisk(error); // Too few files.
    }
    this.#short = false;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#logger.info({ folder: this.#folder, freeBytes: free.bytes }, 'There is free disk space again.');
    this.emit('available');
  }

  /** What is free; notes whether there are fewer files than so many times those that are reserved. */
  async #measured(count: number): Promise<FreeSpace> {
    const free = await this.#freeSpace(this.#folder);
    this.#lacksFiles = free.files < this.#times(count).files;
    return free;
  }

  /** So many times what is reserved. */
  #times(count: number): FreeSpace {
    return { bytes: count * this.#sizeBytes, files: count * filesFor(this.#sizeBytes) };
  }

  async #take(): Promise<void> {
    try {
      await this.#takeBytes(this.#sizeBytes, { allowsLess: false });
      await this.#takeFiles(filesFor(this.#sizeBytes));
      this.#isReleased = false;
    } catch (error) {
      await this.#remove();
      throw error;
    }
  }

  async #remove(): Promise<void> {
    this.#isReleased = true;
    await this.#disk.remove(this.#path);
    const files = await this.#disk.list(this.#files).catch((): string[] => []);
    for (const name of files) await this.#disk.remove(`${this.#files}/${name}`);
    await this.#disk.syncFolder(this.#folder);
  }

  async #takeBytes(sizeBytes: number, { allowsLess }: { allowsLess: boolean }): Promise<void> {
    const path = `${this.#path}.new`;
    try {
      const file = await this.#disk.open(path, 'create');
      try {
        for (let at = 0; at < sizeBytes; at += CHUNK_BYTES) {
          const chunk = this.#random.bytes(Math.min(CHUNK_BYTES, sizeBytes - at));
          await file.write(chunk, at);
        }
      } catch (error) {
        if (!allowsLess) throw error;
        ignoreFullDisk(error);
      } finally {
        await file.sync().finally(() => file.close());
      }
      await this.#disk.rename(path, this.#path);
      await this.#disk.syncFolder(this.#folder);
    } catch (error) {
      await this.#disk.remove(path);
      throw error;
    }
  }

  async #takeFiles(count: number): Promise<void> {
    await this.#disk.makeFolder(this.#files);
    for (let number = 0; number < count; number++) {
      const file = await this.#disk.open(`${this.#files}/${number}`, 'create');
      await file.close();
    }
  }

  get #path(): string {
    return `${this.#folder}/${DATA_FILES.spareSpace}`;
  }

  get #files(): string {
    return `${this.#folder}/${DATA_FILES.spareFiles}`;
  }
}

function filesFor(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BYTES_PER_FILE);
}

function ignoreFullDisk(error: unknown): void {
  if (!isOutOfSpace(error)) throw error;
}
