import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Backoff } from '../backoff.ts';
import type { Clock, Timer } from '../clock.ts';
import type { SpareSpace } from '../data-folder/spare-space.ts';
import { isOutOfSpace, ROOM } from '../disk.ts';
import type { Logger } from '../logger.ts';
import type { Random } from '../random.ts';
import { isTransient } from '../shortage.ts';
import { within } from '../within.ts';
import type { AssetStore } from './asset-store.ts';
import { storeFailure } from './store-failure.ts';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** Time-out after which a store counts as unusable. */
const SILENCE_MS = 60_000;
/** How long a stop waits for a trial. */
const STOP_MS = 5_000;

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
 * then tried with a file of its own, at growing intervals. Emits `available` when it works again.
 *
 * ```
 *          isAtFault()            a file of its own was stored
 * usable ──────────────▶ unusable ────────────────────────────▶ usable
 * ```
 */
export class AssetStoreWatch extends EventEmitter<{ available: [] }> {
  readonly #assets: AssetStore;
  readonly #folder: string | undefined;
  readonly #spareSpace: Pick<SpareSpace, 'check'> | undefined;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #backoff = new Backoff(FIRST_MS, LONGEST_MS);
  #isUnusable = false;
  /** The size of the files that an unusable store is tried with. */
  #sizeBytes = 1;
  #timer: Timer | undefined;
  #trial: Promise<unknown> | undefined;

  constructor(parts: {
    assets: AssetStore;
    /** The folder for files to try with; undefined in a process that stores nothing. */
    folder: string | undefined;
    /** Of the data folder, if artifacts are kept there; notified when they lack space. */
    spareSpace: Pick<SpareSpace, 'check'> | undefined;
    clock: Clock;
    random: Random;
    logger: Logger;
  }) {
    super();
    this.#assets = parts.assets;
    this.#folder = parts.folder;
    this.#spareSpace = parts.spareSpace;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#logger = parts.logger;
  }

  get isUnusable(): boolean {
    return this.#isUnusable;
  }

  /**
   * Whether the store, or the way to it, is at fault for an error of {@link AssetStore.put}, not the file, which has
   * so many bytes and was removed. It is if the error says so, or if a small file can't be stored either. The store is
   * unusable from then on.
   */
  async isAtFault(error: unknown, sizeBytes: number): Promise<boolean> {
    const isFull = isOutOfSpace(error);
    if (isFull) await this.#spareSpace?.check();
    const triedBytes = isFull ? Math.min(sizeBytes, ROOM.bytes) : 1;
    if (!saysStoreFails(error) && (await this.#failure(triedBytes)) === undefined) return false;
    if (this.#isUnusable) return true;
    this.#isUnusable = true;
    this.#sizeBytes = triedBytes;
    this.#logger.error(
      { err: error, againInMs: this.#backoff.nextMs },
      "The store of artifacts can't be written to: no render starts until it can.",
    );
    this.#tryLater();
    return true;
  }

  /** Call it when artifacts were stored. */
  noteStored(): void {
    if (!this.#isUnusable) this.#backoff.reset();
  }

  /** Tries an unusable store now. */
  tryNow(): void {
    if (!this.#isUnusable) return;
    this.#timer?.cancel();
    void this.#try();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#isUnusable = false;
    this.#backoff.reset();
    await within(this.#clock, STOP_MS, Promise.resolve(this.#trial));
  }

  #tryLater(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(this.#backoff.next(), () => void this.#try());
  }

  async #try(): Promise<void> {
    const failure = await this.#failure(this.#sizeBytes);
    if (!this.#isUnusable) return;
    if (failure !== undefined) {
      this.#logger.debug({ err: failure }, "The store of artifacts still can't be written to.");
      this.#tryLater();
      return;
    }
    this.#isUnusable = false;
    this.#logger.info({}, 'The store of artifacts can be written to again.');
    this.emit('available');
  }

  /** Why a file of this size can't be stored; undefined if it can. Shares a trial in progress. */
  async #failure(sizeBytes: number): Promise<unknown> {
    const folder = this.#folder;
    assert(folder !== undefined, 'a process that stores artifacts has a work folder');
    this.#trial ??= storeFailure(this.#assets, {
      folder,
      sizeBytes,
      random: this.#random,
    }).finally(() => {
      this.#trial = undefined;
    });
    const timeout = new Error('it does not respond');
    const trial = this.#trial.then((failure) => ({ failure }));
    return ((await within(this.#clock, SILENCE_MS, trial)) ?? { failure: timeout }).failure;
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
