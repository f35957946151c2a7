import { EventEmitter } from 'node:events';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { isOutOfSpace, makeFolderWithin, ROOM } from '../files/disk.ts';
import type { FolderPlace } from '../files/folder-place.ts';
import { isTransient } from '../files/shortage.ts';
import type { SpareSpace } from '../files/spare-space.ts';
import { Backoff } from '../time/backoff.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { within } from '../time/within.ts';
import type { AssetStore } from './asset-store.ts';
import { readFailure, storeFailure } from './store-failure.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** Time-out after which a store counts as unusable. */
const SILENCE_MS = 60_000;
/** How long a stop waits for a trial. */
const STOP_MS = 5_000;
/** How often a store that nothing was stored in is looked at. */
const LOOK_MS = 60_000;

/**
 * System errors that may concern the file only, such as one that is missing or too large for the space that is left:
 * whether another can be stored is tried.
 */
const OF_A_FILE = new Set([
  ...['EFBIG', 'EINVAL', 'ELOOP', 'ENAMETOOLONG', 'ENOENT'],
  ...['ENOSPC', 'EDQUOT'],
]);

/**
 * Whether artifacts can be stored. While they can't, no render should start: its result would be lost. The store is
 * then tried with a file of its own, at growing intervals. Emits `available` when it works again. A store that nothing
 * was stored in for a minute is tried, too, so that an idle service notices it; a process that stores nothing only reads.
 *
 * ```
 *          isAtFault(), or a trial failed            a trial succeeded
 * usable ────────────────────────────────▶ unusable ──────────────────▶ usable
 * ```
 */
export class AssetStoreWatch extends EventEmitter<{ available: [] }> {
  readonly #assets: AssetStore;
  readonly #folder: string | undefined;
  readonly #spareSpace: Pick<SpareSpace, 'check'> | undefined;
  readonly #place: Pick<FolderPlace, 'look' | 'known'> | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #backoff = new Backoff(FIRST_MS, LONGEST_MS);
  #isUnusable = false;
  /** The size of the files that an unusable store is tried with. */
  #sizeBytes = 1;
  #timer: Timer | undefined;
  #look: Timer | undefined;
  /** When artifacts were stored or tried last. */
  #usedAtMs = Number.NEGATIVE_INFINITY;
  #trial: Promise<unknown> | undefined;

  constructor(parts: {
    assets: AssetStore;
    /** The folder for files to try with; undefined in a process that stores nothing, but reads. */
    folder: string | undefined;
    /** Of the data folder, if artifacts are kept there; notified when they lack space. */
    spareSpace: Pick<SpareSpace, 'check'> | undefined;
    /** Of the data folder, if there is one; while it is lost, the store is not looked at. */
    place?: Pick<FolderPlace, 'look' | 'known'> | undefined;
    clock: Clock;
    random: Random;
    logger: Logger;
  }) {
    super();
    this.#assets = parts.assets;
    this.#folder = parts.folder;
    this.#spareSpace = parts.spareSpace;
    this.#place = parts.place;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#logger = parts.logger;
  }

  get isUnusable(): boolean {
    return this.#isUnusable;
  }

  /** Whether this process stores artifacts; others only read them. */
  get stores(): boolean {
    return this.#folder !== undefined;
  }

  /**
   * Whether the store, or the way to it, is at fault for an error of {@link AssetStore.put}, not the file, which has
   * so many bytes and was removed. It is if the error says so, or if a small file can't be stored either. The store is
   * unusable from then on; not for a data folder that was moved, which is a problem of its own.
   */
  async isAtFault(error: unknown, sizeBytes: number): Promise<boolean> {
    if (this.#place?.look()) return true;
    const isFull = isOutOfSpace(error);
    if (isFull) await this.#spareSpace?.check();
    const triedBytes = isFull ? Math.min(sizeBytes, ROOM.bytes) : 1;
    if (!saysStoreFails(error) && (await this.#failure(triedBytes)) === undefined) return false;
    this.#fail(error, triedBytes);
    return true;
  }

  /** Begins to look at the store regularly; not at the same moment as other processes. */
  start(): void {
    const [share = 0] = this.#random.bytes(1);
    this.#look?.cancel();
    this.#look = this.#clock.after(((share + 1) / 256) * LOOK_MS, () => {
      void this.#lookAgain();
      this.#look = this.#clock.every(LOOK_MS, () => void this.#lookAgain());
    });
  }

  /** Call it when artifacts were stored. */
  noteStored(): void {
    this.#usedAtMs = this.#clock.uptimeMs();
    if (!this.#isUnusable) this.#backoff.reset();
  }

  /** Tries an unusable store now. */
  tryNow(): void {
    if (!this.#isUnusable) return;
    this.#timer?.cancel();
    void this.#try();
  }

  async stop(): Promise<void> {
    this.#look?.cancel();
    this.#look = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#isUnusable = false;
    this.#backoff.reset();
    await within(this.#clock, STOP_MS, Promise.resolve(this.#trial));
  }

  async #lookAgain(): Promise<void> {
    if (this.#isUnusable || this.#clock.uptimeMs() - this.#usedAtMs < LOOK_MS / 2) return;
    if (this.#place?.look()) return;
    // Twice: after a pause of the whole service, the first may seem to take too long.
    if ((await this.#failure(1)) === undefined) return;
    const failure = await this.#failure(1);
    if (failure !== undefined && this.#look && !this.#place?.look()) this.#fail(failure, 1);
  }

  #fail(error: unknown, sizeBytes: number): void {
    if (this.#isUnusable) return;
    this.#isUnusable = true;
    this.#sizeBytes = sizeBytes;
    this.#logger.error(
      { err: error, againInMs: this.#backoff.nextMs },
      this.stores
        ? "The store of artifacts can't be written to: no render starts until it can."
        : "The store of artifacts can't be read.",
    );
    this.#tryLater();
  }

  #tryLater(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(this.#backoff.next(), () => void this.#try());
  }

  async #try(): Promise<void> {
    const failure = await this.#failure(this.#sizeBytes);
    if (!this.#isUnusable) return;
    if (failure !== undefined) {
      this.#logger.debug({ err: failure }, "The store of artifacts still can't be used.");
      this.#tryLater();
      return;
    }
    this.#isUnusable = false;
    this.#logger.info({}, 'The store of artifacts can be used again.');
    this.emit('available');
  }

  /** Why a file of this size can't be stored, or nothing be read; undefined if it can. Shares a trial in progress. */
  async #failure(sizeBytes: number): Promise<unknown> {
    this.#trial ??= this.#tried(sizeBytes).finally(() => {
      this.#trial = undefined;
    });
    const timeout = new Error('it does not respond');
    const trial = this.#trial.then((failure) => ({ failure }));
    return ((await within(this.#clock, SILENCE_MS, trial)) ?? { failure: timeout }).failure;
  }

  async #tried(sizeBytes: number): Promise<unknown> {
    const [assets, folder, random] = [this.#assets, this.#folder, this.#random];
    if (folder === undefined) return readFailure(assets);
    try {
      makeFolderWithin(folder, 0o700, this.#place?.known);
    } catch (error) {
      return error;
    }
    return storeFailure(assets, { folder, sizeBytes, random });
  }
}

/** Whether an error of a store says that no file can be stored now. */
function saysStoreFails(error: unknown): boolean {
  if (isTransient(error)) return true;
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, syscall } = at as NodeJS.ErrnoException;
    if (syscall !== undefined && code !== undefined) return !OF_A_FILE.has(code);
  }
  return false;
}
