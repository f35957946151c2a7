import { EventEmitter } from 'node:events';
import { statSync } from 'node:fs';
import { ScenepressError } from '../base/errors.ts';
import { type Logger, silentLogger } from '../base/logger.ts';
import type { Clock, Timer } from '../time/clock.ts';
import { type Disk, identityOf, isInPlace, type KnownFolder } from './disk.ts';

const LOOK_MS = 1_000;

/**
 * Watches whether the folder at a path is still the one that was opened. Files that are open stay those of the folder
 * that was moved, but what is opened by its path would be in another: {@link assert} comes before each of these. Emits
 * `back` when the folder is in its place again.
 */
export class FolderPlace extends EventEmitter<{ back: [] }> {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #known: KnownFolder | undefined;
  #isLost = false;
  #timer: Timer | undefined;

  constructor(path: string, { clock, logger = silentLogger }: { clock: Clock; logger?: Logger | undefined }) {
    super();
    this.#path = path;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The folder that is there now is the right one. */
  start(): void {
    this.#known = { path: this.#path, identity: identityOf(statSync(this.#path)) };
    this.#isLost = false;
    this.#timer ??= this.#clock.every(LOOK_MS, () => void this.look());
  }

  /** Nothing is open any more: another folder may be used. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#known = undefined;
  }

  /** The folder that was opened, for threads. */
  get known(): KnownFolder | undefined {
    return this.#known;
  }

  /** Whether the folder was moved or replaced, as of the last look. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Error: `storage_failed` when the folder was moved or replaced. */
  assert(): void {
    if (this.look()) throw new ScenepressError('storage_failed', this.#lost, { retryAfterMs: LOOK_MS });
  }

  get #lost(): string {
    return (
      `The data folder ${this.#path} was moved or replaced while it is in use. Nothing was written. Put it back: the ` +
      'service then continues by itself. To use another folder, stop the service first.'
    );
  }

  /** Looks again; true when the folder was moved or replaced. */
  look(): boolean {
    const isLost = this.#known !== undefined && !isInPlace(this.#known);
    if (isLost === this.#isLost) return isLost;
    this.#isLost = isLost;
    if (isLost) this.#logger.error({ folder: this.#path }, this.#lost);
    else {
      this.#logger.info({ folder: this.#path }, 'The data folder is in its place again.');
      this.emit('back');
    }
    return isLost;
  }
}

/** A disk that is used only while the folder is in its place. */
export function guarded(disk: Disk, place: FolderPlace): Disk {
  const then = async <T>(work: () => Promise<T>): Promise<T> => {
    place.assert();
    return work();
  };
  return {
    open: (path, how) => then(() => disk.open(path, how)),
    read: (path) => then(() => disk.read(path)),
    rename: (from, to) => then(() => disk.rename(from, to)),
    remove: (path) => then(() => disk.remove(path)),
    stampOf: (path) => then(() => disk.stampOf(path)),
    list: (folder) => then(() => disk.list(folder)),
    makeFolder: (folder) => then(() => disk.makeFolder(folder)),
    syncFolder: (folder) => then(() => disk.syncFolder(folder)),
  };
}
