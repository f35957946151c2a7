import { EventEmitter } from 'node:events';
import type { Clock, Timer } from '../clock.ts';
import { DATA_FILES } from '../data-files.ts';
import { type Disk, freeBytesOf, isOutOfSpace, realDisk } from '../disk.ts';
import { Line } from '../line.ts';
import { type Logger, silentLogger } from '../logger.ts';
import type { Random } from '../random.ts';
import { DISK_FULL } from '../service-status.ts';

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
  /** Returns the bytes available to this user on the file system of a folder. */
  freeBytes?: (folder: string) => Promise<number>;
  lookAgainMs?: number;
}

/**
 * Disk space reserved for finishing work in progress: a file of random bytes (zeros take no space on some file
 * systems), and empty files, because file systems limit their number. They are deleted when the database cannot grow,
 * and created again when there is space. From the first failed write until then, no new work may start. Emits `available`
 * when the shortage ends.
 *
 * ```
 *            ranOut()              free ≥ twice the spare space + what was missing
 * enough ─────────────▶ short ───────────────────────────────────────────────────▶ enough
 * ```
 */
export class SpareSpace extends EventEmitter<{ available: [] }> {
  readonly #folder: string;
  readonly #disk: Disk;
  readonly #freeBytes: (folder: string) => Promise<number>;
  readonly #lookAgainMs: number;
  readonly #clock: Clock;
  readonly #random: Random;
  #sizeBytes = 0;
  #missingBytes = 0;
  #short = false;
  #isReleased = false;
  #timer: Timer | undefined;
  #working: Promise<void> = Promise.resolve();
  /** Several services may use the folder. */
  readonly #starts = new Line();
  #logger: Logger = silentLogger;

  constructor(folder: string, options: SpareSpaceOptions & { clock: Clock; random: Random }) {
    super();
    this.#folder = folder;
    this.#disk = options.disk ?? realDisk;
    this.#freeBytes = options.freeBytes ?? freeBytesOf;
    this.#lookAgainMs = options.lookAgainMs ?? LOOK_AGAIN_MS;
    this.#clock = options.clock;
    this.#random = options.random;
  }

  /** True while no new work may start: the remaining space is for work in progress. */
  get isShort(): boolean {
    return this.#short;
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

  /**
   * Starts a shortage, because a write failed. `missingBytes`: the space that an artifact needs, which must also be free
   * before the shortage ends. Without it, the database could not grow, and the reserved space is released.
   */
  ranOut({ missingBytes = 0 }: { missingBytes?: number } = {}): Promise<void> {
    this.#missingBytes = Math.max(this.#missingBytes, missingBytes);
    this.#becomeShort();
    // An artifact that did not fit has already been deleted, which freed enough space.
    return missingBytes > 0 ? this.#working : this.#then(() => this.#release());
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
    this.#logger.error({ folder: this.#folder }, DISK_FULL.message);
    this.#timer = this.#clock.every(this.#lookAgainMs, () => void this.#then(() => this.#look()));
  }

  async #release(): Promise<void> {
    this.#becomeShort(); // The file may have been created again meanwhile.
    await this.#remove();
  }

  async #look(): Promise<void> {
    if (!this.#short) return;
    const freeBytes = await this.#freeBytes(this.#folder);
    if (freeBytes < 2 * this.#sizeBytes + this.#missingBytes) return;
    try {
      await this.#take();
    } catch (error) {
      return ignoreFullDisk(error); // Too few files.
    }
    this.#short = false;
    this.#missingBytes = 0;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#logger.info({ folder: this.#folder, freeBytes }, 'There is free disk space again.');
    this.emit('available');
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
