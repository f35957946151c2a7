import { randomFillSync } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { statfs } from 'node:fs/promises';
import { type Disk, isNoRoom, realDisk } from '../disk.ts';
import { type Logger, silentLogger } from '../logger.ts';

/**
 * More than ending one running job writes (its record and its webhook's body, each with 200 KiB of metadata), and the
 * same again for what else is under way.
 */
const BYTES_PER_JOB = 1024 * 1024;
const BYTES_FOR_THE_REST = 2 * 1024 * 1024;

/** How much ends what may be running. */
export function spareBytesFor(workers: number): number {
  return workers * BYTES_PER_JOB + BYTES_FOR_THE_REST;
}

const NAME = 'spare-room';
const CHUNK_BYTES = 1024 * 1024;
const LOOK_AGAIN_MS = 5_000;

export interface SpareRoomOptions {
  disk?: Disk;
  /** Bytes that are free for this user on the disk of a folder. */
  freeBytes?: (folder: string) => Promise<number>;
  lookAgainMs?: number;
}

/**
 * Room on the disk that is kept for ending what has begun: a file of random bytes (zeros take no room on some disks),
 * given up when the disk runs full, and made again when there is room again. In between nothing new may begin. Emits
 * `available` when that is over.
 *
 * ```
 *            ranOut()                          free ≥ twice the spare room + what was missing
 *  enough ─────────────▶ short (file given up) ─────────────▶ enough (file made again)
 * ```
 */
export class SpareRoom extends EventEmitter<{ available: [] }> {
  readonly #folder: string;
  readonly #disk: Disk;
  readonly #freeBytes: (folder: string) => Promise<number>;
  readonly #lookAgainMs: number;
  #sizeBytes = 0;
  #missingBytes = 0;
  #short = false;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #logger: Logger = silentLogger;

  constructor(folder: string, options: SpareRoomOptions = {}) {
    super();
    this.#folder = folder;
    this.#disk = options.disk ?? realDisk;
    this.#freeBytes = options.freeBytes ?? freeBytesOf;
    this.#lookAgainMs = options.lookAgainMs ?? LOOK_AGAIN_MS;
  }

  /** Nothing new may begin: what room there is belongs to what has begun. */
  get isShort(): boolean {
    return this.#short;
  }

  /** Reserves `sizeBytes` of the disk, or starts out short of them. */
  async start({ sizeBytes, logger }: { sizeBytes: number; logger: Logger }): Promise<void> {
    this.#sizeBytes = sizeBytes;
    this.#logger = logger;
    const found = await this.#disk.read(this.#path);
    if (found && found.length >= sizeBytes) return;
    await this.#take().catch((error: unknown) => {
      if (!isNoRoom(error)) throw error;
      this.#becomeShort();
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#working;
    this.#short = false;
    this.#sizeBytes = 0;
  }

  /** Something did not fit: gives the spare room up. `missingBytes`: what more has to be free before it is over. */
  ranOut({ missingBytes = 0 }: { missingBytes?: number } = {}): Promise<void> {
    this.#missingBytes = Math.max(this.#missingBytes, missingBytes);
    this.#becomeShort();
    // A file of artifacts that didn't fit is gone already: what it took is there for the rest.
    return missingBytes > 0 ? this.#working : this.#then(() => this.#giveUp());
  }

  /** One step at a time. */
  #then(step: () => Promise<void>): Promise<void> {
    this.#working = this.#working.then(step).catch((error: unknown) => {
      this.#logger.warn({ err: error, folder: this.#folder }, 'Spare room on the disk could not be managed.');
    });
    return this.#working;
  }

  #becomeShort(): void {
    if (this.#short || this.#sizeBytes === 0) return;
    this.#short = true;
    this.#logger.error(
      { folder: this.#folder },
      'The disk is full: no jobs are taken on and none is begun until there is room. Free some space on it.',
    );
    this.#timer = setInterval(() => void this.#then(() => this.#look()), this.#lookAgainMs).unref();
  }

  async #giveUp(): Promise<void> {
    this.#becomeShort(); // It may have been made again meanwhile.
    await this.#disk.remove(this.#path);
    await this.#disk.syncFolder(this.#folder);
  }

  async #look(): Promise<void> {
    if (!this.#short) return;
    const freeBytes = await this.#freeBytes(this.#folder);
    if (freeBytes < 2 * this.#sizeBytes + this.#missingBytes) return;
    await this.#take();
    this.#short = false;
    this.#missingBytes = 0;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#logger.info({ folder: this.#folder, freeBytes }, 'There is room on the disk again.');
    this.emit('available');
  }

  async #take(): Promise<void> {
    const path = `${this.#path}.new`;
    try {
      const file = await this.#disk.open(path, 'create');
      try {
        for (let at = 0; at < this.#sizeBytes; at += CHUNK_BYTES) {
          const chunk = randomFillSync(Buffer.allocUnsafe(Math.min(CHUNK_BYTES, this.#sizeBytes - at)));
          await file.write(chunk, at);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      await this.#disk.rename(path, this.#path);
      await this.#disk.syncFolder(this.#folder);
    } catch (error) {
      await this.#disk.remove(path);
      throw error;
    }
  }

  get #path(): string {
    return `${this.#folder}/${NAME}`;
  }
}

/** Bytes that are free for this user on the disk that a folder is on. */
export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
