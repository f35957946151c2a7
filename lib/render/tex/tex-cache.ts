import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { lstat, readdir, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import type { FolderPlace } from '../../data-folder/folder-place.ts';
import { realDisk } from '../../disk.ts';
import type { Logger } from '../../logger.ts';
import { identityAt } from '../start/work-folder.ts';

/** Follows the name of a pack that is being written. */
export const NEW_SUFFIX = '.new';
/** The default size of all packs. */
export const TEX_CACHE_BYTES: number = 256 * 1024 * 1024;
const PACK = /^[0-9a-f]{64}$/;
/** Older files that are being written are left by a process that was killed. */
const NEW_LIMIT_MS = 60 * 60_000;
const AGE_LIMIT_MS = 30 * 24 * 60 * 60_000;

/** The pack of an owner, for one render. Plain data, because it is passed to threads. */
export interface TexLease {
  /** The file that a render reads; may be missing. */
  path: string;
  /** The number of packs removed before the lease; shows whether the owner's may still be replaced. */
  removals: number;
}

/**
 * The formulas of each owner's earlier renders, in a file each: a pack, which `renderer/scene_renderer/tex_pack.py`
 * describes. This process neither reads nor writes the contents; a sandboxed process without scene code does. Owners
 * share no formulas, so render times reveal nothing about renders of other owners.
 */
export class TexCache {
  readonly #folder: string;
  readonly #mostBytes: number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #place: FolderPlace | undefined;
  #identity: string | undefined;
  #removals = 0;
  #isOpen = false;

  /** `mostBytes`: of all packs together; the ones that were not used for the longest time are removed. */
  constructor(options: {
    folder: string;
    mostBytes: number;
    /** Of the data folder that contains it. */
    place?: FolderPlace;
    clock: Clock;
    logger: Logger;
  }) {
    this.#folder = options.folder;
    this.#mostBytes = options.mostBytes;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#place = options.place;
  }

  /** Creates the folder and removes old packs. Without a folder, nothing is kept, but renders work. */
  async open(): Promise<void> {
    try {
      await realDisk.makeFolder(this.#folder);
      this.#identity = identityAt(this.#folder);
      this.#isOpen = this.#mostBytes > 0;
      await this.#trim();
    } catch (error) {
      this.#warn(error);
    }
  }

  /** The pack for a render of an owner; undefined when nothing is kept. */
  lease(owner: string): TexLease | undefined {
    if (!this.#isOpen) return undefined;
    this.#restoreFolder();
    const path = this.#pathOf(owner);
    const now = this.#clock.now() / 1000;
    utimes(path, now, now).catch(() => {}); // Missing before the first formula.
    return { path, removals: this.#removals };
  }

  /**
   * Replaces the pack of a lease by a new file, which is removed when a pack was removed since the lease: it may contain
   * formulas that were forgotten.
   */
  async keep(lease: TexLease, newPath: string): Promise<void> {
    // Not flushed: checksums detect a damaged pack. Synchronous, so that nothing is removed in between.
    try {
      this.#place?.assert();
      if (this.#isOpen && lease.removals === this.#removals) renameSync(newPath, lease.path);
      else rmSync(newPath, { force: true });
      await this.#trim();
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Removes the pack of an owner, from the disk too, and those of running renders. Errors: those of the file system. */
  async forget(owner: string): Promise<void> {
    this.#place?.assert();
    this.#removals += 1;
    if (!existsSync(this.#folder)) return;
    await rm(this.#pathOf(owner), { force: true });
    await realDisk.syncFolder(this.#folder);
  }

  /** Makes the folder again if it was moved or removed: what was in it is only set again. */
  #restoreFolder(): void {
    if (identityAt(this.#folder) === this.#identity) return;
    try {
      this.#place?.assert();
      if (!existsSync(this.#folder)) mkdirSync(this.#folder, { mode: 0o700 });
      this.#identity = identityAt(this.#folder);
      this.#logger.warn(
        { folder: this.#folder },
        'The folder of formulas that are kept for later renders was moved or removed. It is made again.',
      );
    } catch (error) {
      this.#warn(error);
    }
  }

  async #trim(): Promise<void> {
    const packs: { path: string; sizeBytes: number; usedAtMs: number }[] = [];
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const status = await lstat(path).catch(() => undefined);
      if (name.endsWith(NEW_SUFFIX) && status && status.mtimeMs < this.#clock.now() - NEW_LIMIT_MS)
        await rm(path, { force: true });
      if (PACK.test(name) && status) packs.push({ path, sizeBytes: status.size, usedAtMs: status.mtimeMs });
    }
    packs.sort((one, other) => other.usedAtMs - one.usedAtMs);
    const oldestMs = this.#clock.now() - AGE_LIMIT_MS;
    let bytes = 0;
    for (const { path, sizeBytes, usedAtMs } of packs) {
      bytes += sizeBytes;
      if (bytes > this.#mostBytes || usedAtMs < oldestMs) await rm(path, { force: true });
    }
  }

  #pathOf(owner: string): string {
    return join(this.#folder, createHash('sha256').update(owner).digest('hex'));
  }

  #warn(error: unknown): void {
    this.#logger.warn({ err: error }, 'Formulas could not be kept for later renders; they are set again.');
  }
}
