import { join } from 'node:path';
import { ScenepressError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { DATA_FILES, STUDIO_PARTS } from '../files/data-files.ts';
import { type FreeSpace, freeSpaceOf, isLess } from '../files/disk.ts';
import { type Clock, isoTime, type Timer } from '../time/clock.ts';
import { lastTimes, schedule } from '../time/schedule.ts';
import { backUp } from './backup.ts';
import { type BackupFailure, backupFailureOf } from './backup-failure.ts';
import type { DataFolder } from './data-folder.ts';
import { KeptBackups, sizeOf } from './kept-backups.ts';

const MIB = 1024 * 1024;
/** What a backup leaves free on its disk: others use the disk, too, and the data grows during the copy. */
const LEFT_FREE: FreeSpace = { bytes: 256 * MIB, files: 1000 };
const BLOCK_BYTES = 4096;
/** How long after the start a backup is made whose time passed while nothing ran. */
const CATCH_UP_MS = 5 * 60_000;

export interface ScheduledBackupsOptions {
  source: DataFolder;
  /** Where the backups are made; must exist. */
  folder: string;
  /** A cron pattern, UTC. */
  pattern: string;
  /** How many complete backups are kept. */
  kept: number;
  /** Called before each backup. */
  prepare: () => Promise<void>;
  clock: Clock;
  logger: Logger;
}

/** What is known of the backups of a folder, as plain data. */
export interface BackupsInfo {
  folder: string;
  /** When the newest complete backup was begun, in epoch milliseconds; null without one. */
  lastSuccessAtMs: number | null;
  /** Of this process; null without one. */
  lastFailure: (BackupFailure & { atMs: number; message: string }) | null;
  /** Whether none has succeeded since that failure. */
  hasFailed: boolean;
  /** What an administrator should do something about. Public: without paths and names. */
  warnings: string[];
}

/**
 * Verified backups of a data folder on a schedule, in another folder, of which the newest are kept. One is made at a time;
 * it removes what interrupted ones have left. A time that passed while no service ran is made up for, once, some minutes
 * after the start. A failure keeps the old backups, and is not repeated before the next time.
 */
export class ScheduledBackups {
  readonly #options: ScheduledBackupsOptions;
  readonly #backups: KeptBackups;
  readonly #timers: Timer[] = [];
  #isStarted = false;
  #startedAtMs = 0;
  #lastSuccessAtMs: number | null = null;
  #lastFailure: BackupsInfo['lastFailure'] = null;
  #hasFailed = false;
  #looking: Promise<void> | undefined;
  #running: Promise<void> | undefined;
  readonly #stopping = new AbortController();

  constructor(options: ScheduledBackupsOptions) {
    this.#options = options;
    this.#backups = new KeptBackups(options.folder);
  }

  /** Begins the schedule. The folder is read in the background: its disk may not answer. */
  start(): void {
    const { clock, pattern } = this.#options;
    this.#isStarted = true;
    this.#startedAtMs = clock.now();
    this.#timers.push(
      schedule(clock, pattern, () => void this.run()),
      clock.after(CATCH_UP_MS, () => {
        if (this.#missed(1)) void this.run();
      }),
    );
    this.#looking = this.#look().catch((error: unknown) => this.#fail(error));
  }

  /** Ends a backup that is being made, which leaves nothing. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers.splice(0)) timer.cancel();
    await this.#running;
  }

  /** Makes a backup now, unless one is being made. Errors are logged, and part of {@link info}. */
  run(): Promise<void> {
    const { logger, folder } = this.#options;
    if (this.#running !== undefined) {
      logger.warn({ folder }, 'No scheduled backup was begun, because the one before is not complete.');
      return this.#running;
    }
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** As {@link state}; reads the folder first if no service has begun the schedule. */
  async info(): Promise<BackupsInfo> {
    if (!this.#isStarted) await this.#look().catch((error: unknown) => this.#note(error));
    return this.state();
  }

  state(): BackupsInfo {
    return {
      folder: this.#options.folder,
      lastSuccessAtMs: this.#lastSuccessAtMs,
      lastFailure: this.#lastFailure,
      hasFailed: this.#hasFailed,
      warnings: this.#warnings(),
    };
  }

  #warnings(): string[] {
    const last =
      this.#lastSuccessAtMs === null
        ? 'There is no complete one'
        : `The last complete one is of ${isoTime(this.#lastSuccessAtMs)}`;
    if (this.#hasFailed && this.#lastFailure) {
      const { atMs, reason, remedy } = this.#lastFailure;
      return [`The scheduled backup failed at ${isoTime(atMs)}: ${reason}. ${remedy} ${last}.`];
    }
    if (!this.#isStarted || !this.#missed(2)) return [];
    return [
      `No scheduled backup was completed in twice its interval. ${last}. One may still be running, or the service was ` +
        'stopped or suspended at the times: the log says which. `scenepress backup` makes one at any time.',
    ];
  }

  /** Whether the last backup is older than the last `count` times of the schedule. */
  #missed(count: number): boolean {
    const { clock, pattern } = this.#options;
    const now = clock.now();
    const since = this.#lastSuccessAtMs ?? (count === 1 ? Number.NEGATIVE_INFINITY : this.#startedAtMs);
    const times = lastTimes(pattern, now, count);
    const first = times[count - 1];
    return first !== undefined && since < first;
  }

  async #run(): Promise<void> {
    const { logger, folder } = this.#options;
    try {
      await this.#looking;
      await this.#make();
    } catch (error) {
      if (this.#stopping.signal.aborted) {
        logger.info({ folder }, 'The scheduled backup was ended, because the service stops.');
      } else {
        this.#fail(error);
      }
    }
  }

  async #make(): Promise<void> {
    const { source, folder, kept, prepare, clock, logger } = this.#options;
    const { signal } = this.#stopping;
    const startedAtMs = clock.now();
    await this.#backups.removeUnfinished();
    await this.#assertRoom();
    signal.throwIfAborted();
    await prepare();
    const target = this.#backups.pathAt(startedAtMs);
    const { jobs, files, sizeBytes } = await backUp(source, target, { signal });
    this.#lastSuccessAtMs = startedAtMs;
    this.#hasFailed = false;
    const tookMs = clock.now() - startedAtMs;
    logger.info({ folder: target, jobs, files, sizeBytes, tookMs }, 'The scheduled backup is complete.');
    try {
      for (const path of await this.#backups.removeOld(kept, target)) {
        logger.warn(
          { folder: path },
          'An old backup was kept, because it contains other files, or its manifest is unreadable. Remove it yourself.',
        );
      }
    } catch (err) {
      logger.error(
        { err, folder },
        'Old backups could not be removed. The next scheduled backup tries again.',
      );
    }
  }

  /** The estimate is too high rather than too low: it counts files that the backup omits. */
  async #assertRoom(): Promise<void> {
    const { source, folder } = this.#options;
    const { databaseBytes, logBytes, documentBytes } = await source.statistics();
    const needed: FreeSpace = {
      bytes: databaseBytes + logBytes + documentBytes + LEFT_FREE.bytes,
      files: LEFT_FREE.files,
    };
    for (const name of [DATA_FILES.artifacts, ...STUDIO_PARTS]) {
      const { bytes, files } = await sizeOf(join(source.path, name), BLOCK_BYTES);
      needed.bytes += bytes;
      // Each job has a folder.
      needed.files += 2 * files;
    }
    const free = await freeSpaceOf(folder);
    if (!isLess(free, needed)) return;
    const mib = (bytes: number) => `${Math.ceil(bytes / MIB)} MiB`;
    throw new ScenepressError(
      'storage_full',
      free.bytes < needed.bytes
        ? `No backup was made: it needs ${mib(needed.bytes)} of disk space, of which ${mib(LEFT_FREE.bytes)} stay free, and ` +
            `${folder} has ${mib(free.bytes)}.`
        : `No backup was made: it needs ${needed.files} free inodes on the disk of ${folder}, which has ${free.files}.`,
    );
  }

  /** Finds the newest backup. One whose time is in the future was made while the clock was wrong. */
  async #look(): Promise<void> {
    const now = this.#options.clock.now();
    const newest = (await this.#backups.list()).find(({ atMs }) => atMs <= now);
    this.#lastSuccessAtMs = newest?.atMs ?? null;
  }

  #fail(error: unknown): void {
    const { reason, remedy } = this.#note(error);
    const { logger, folder } = this.#options;
    logger.error({ err: error, folder }, `The scheduled backup failed: ${reason}. ${remedy}`);
  }

  #note(error: unknown): BackupFailure {
    const { clock, folder } = this.#options;
    const failure = backupFailureOf(error, folder);
    const message = error instanceof Error ? error.message : String(error);
    this.#lastFailure = { ...failure, atMs: clock.now(), message };
    this.#hasFailed = true;
    return failure;
  }
}
