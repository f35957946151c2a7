import { EventEmitter } from 'node:events';
import type { AssetStoreWatch } from '../../assets/asset-store-watch.ts';
import { ScenepressError } from '../../base/errors.ts';
import type { FolderPlace } from '../../files/folder-place.ts';
import type { SpareSpace } from '../../files/spare-space.ts';
import { DISK_FULL_TO_CLIENTS, HELD_BACK_TO_CLIENTS } from '../../model/service-problems.ts';
import type { Renderer } from '../../render/pool/renderer.ts';
import type { SettingsStore } from '../../storage/settings-store.ts';
import type { Signals } from '../../storage/signals.ts';
import type { Clock } from '../../time/clock.ts';
import { within } from '../../time/within.ts';

/** Signals may get lost. */
const POLL_MS = 5_000;
/** A storage that has not answered for so long is away. */
const MOST_SILENT_MS = 10_000;

/**
 * The conditions for starting renders: a process that may work, free disk space, the data folder in its place, a store
 * that takes artifacts, a working renderer, a queue that is not paused. Emits `open` when one of them is met again;
 * {@link isOpen} is true when all are met. Also whether the storage answers.
 */
export class Gate extends EventEmitter<{ open: [] }> {
  readonly #spareSpace: SpareSpace | undefined;
  readonly #place: FolderPlace | undefined;
  readonly #storeWatch: AssetStoreWatch;
  readonly #renderer: Renderer;
  readonly #settings: SettingsStore;
  readonly #signals: Signals;
  readonly #isShared: boolean;
  readonly #isDatabaseFull: () => boolean;
  readonly #heldBack: () => string | undefined;
  readonly #clock: Clock;
  #stopListening = () => {};
  #pausedAtMs: number | null = null;
  #isStorageAway = false;
  #looks = 0;
  /** The number of the latest look that has ended. */
  #lastLook = 0;

  constructor(parts: {
    /** Undefined: free disk space is not watched. */
    spareSpace: SpareSpace | undefined;
    storeWatch: AssetStoreWatch;
    /** Of the data folder, if any. */
    place?: FolderPlace | undefined;
    renderer: Renderer;
    settings: SettingsStore;
    signals: Signals;
    /** As {@link Storage.isFull}. */
    isDatabaseFull?: () => boolean;
    /** Other processes may change the settings. */
    isShared: boolean;
    /** Why this process must not work; undefined: it may. */
    heldBack?: (() => string | undefined) | undefined;
    clock: Clock;
  }) {
    super();
    this.#spareSpace = parts.spareSpace;
    this.#storeWatch = parts.storeWatch;
    this.#place = parts.place;
    this.#renderer = parts.renderer;
    this.#settings = parts.settings;
    this.#signals = parts.signals;
    this.#isShared = parts.isShared;
    this.#isDatabaseFull = parts.isDatabaseFull ?? (() => false);
    this.#heldBack = parts.heldBack ?? (() => undefined);
    this.#clock = parts.clock;
  }

  /** Loads the paused state of the queue and subscribes to the other conditions. */
  async start(): Promise<void> {
    this.stop();
    this.#pausedAtMs = (await this.#settings.getSettings()).queuePausedAtMs;
    this.#isStorageAway = false;
    this.#spareSpace?.on('available', this.#spaceAvailable);
    this.#storeWatch.on('available', this.#emitOpen);
    this.#place?.on('back', this.#emitOpen);
    this.#renderer.on('ready', this.#emitOpen);
    if (this.#isShared) this.#listen();
  }

  stop(): void {
    this.#stopListening();
    this.#stopListening = () => {};
    this.#spareSpace?.off('available', this.#spaceAvailable);
    this.#storeWatch.off('available', this.#emitOpen);
    this.#place?.off('back', this.#emitOpen);
    this.#renderer.off('ready', this.#emitOpen);
  }

  /** Whether renders may start. A broken renderer would only use up the attempts of jobs. */
  get isOpen(): boolean {
    return (
      this.#pausedAtMs === null &&
      this.heldBack === undefined &&
      !this.isDiskFull &&
      !this.isFolderLost &&
      !this.isStoreUnusable &&
      this.#renderer.mayRender
    );
  }

  /** Whether the data folder was moved or replaced. */
  get isFolderLost(): boolean {
    return this.#place?.isLost ?? false;
  }

  get isDiskFull(): boolean {
    return this.#spareSpace?.isShort ?? false;
  }

  /** Whether it is full because it can hold no more files. */
  get lacksFiles(): boolean {
    return this.#spareSpace?.lacksFiles ?? false;
  }

  /** Whether artifacts can't be stored. */
  get isStoreUnusable(): boolean {
    return this.#storeWatch.isUnusable && this.#storeWatch.stores;
  }

  /** Whether artifacts can't be read by a process that stores none. */
  get isStoreUnreadable(): boolean {
    return this.#storeWatch.isUnusable && !this.#storeWatch.stores;
  }

  /** Whether a shared storage did not answer the last poll. */
  get isStorageAway(): boolean {
    return this.#isStorageAway;
  }

  /** As {@link Storage.isFull}. */
  get isDatabaseFull(): boolean {
    return this.#isDatabaseFull();
  }

  /** When the queue was paused, in epoch milliseconds; null when it is not paused. */
  get pausedAtMs(): number | null {
    return this.#pausedAtMs;
  }

  /** Why this process must not work; undefined: it may. */
  get heldBack(): string | undefined {
    return this.#heldBack();
  }

  /** Error: `not_running` while this process must not work. */
  assertNotHeldBack(): void {
    if (this.heldBack === undefined) return;
    throw new ScenepressError('not_running', HELD_BACK_TO_CLIENTS);
  }

  /** Error: `storage_full` while the disk is full. */
  assertDiskNotFull(): void {
    if (!this.isDiskFull) return;
    throw new ScenepressError('storage_full', DISK_FULL_TO_CLIENTS);
  }

  /** Pauses the queue; the pause survives restarts. */
  async pause(): Promise<void> {
    if (this.#pausedAtMs === null) await this.#setPaused(this.#clock.now());
  }

  async resume(): Promise<void> {
    await this.#setPaused(null);
    this.emit('open');
  }

  async #setPaused(queuePausedAtMs: number | null): Promise<void> {
    await this.#settings.changeSettings((settings) => ({ ...settings, queuePausedAtMs }));
    this.#pausedAtMs = queuePausedAtMs;
    this.#signals.publish({ kind: 'settings' });
  }

  /** Another process may pause and resume the queue. */
  #listen(): void {
    const stopListening = this.#signals.subscribe(({ kind }) => {
      if (kind === 'settings') void this.#look();
    });
    const poll = this.#clock.every(POLL_MS, () => void this.#look());
    this.#stopListening = () => {
      stopListening();
      poll.cancel();
    };
  }

  /** A failed read is repeated by the next poll. */
  async #look(): Promise<void> {
    const look = ++this.#looks;
    const reading = this.#settings.getSettings().catch(() => undefined);
    const settings = await within(this.#clock, MOST_SILENT_MS, reading);
    if (look < this.#lastLook) return;
    this.#lastLook = look;
    this.#isStorageAway = settings === undefined;
    if (!settings) return;
    const wasPaused = this.#pausedAtMs !== null;
    this.#pausedAtMs = settings.queuePausedAtMs;
    if (wasPaused && this.#pausedAtMs === null) this.emit('open');
  }

  /** The store may be on the disk that was full. */
  readonly #spaceAvailable = (): void => {
    this.#storeWatch.tryNow();
    this.emit('open');
  };

  readonly #emitOpen = (): void => {
    this.emit('open');
  };
}
