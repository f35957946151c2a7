import { lstat, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { realDisk } from '../files/disk.ts';
import { isoTime } from '../time/clock.ts';
import { MANIFEST } from './backup-contents.ts';
import { entriesIn } from './backup-entries.ts';
import { readManifest, unlistedIn } from './verify-backup.ts';

const NAME = /^scenepress-(\d{4}-\d\d-\d\dT)(\d\d)(\d\d)(\d\d)Z$/;
/** Ends the name of a backup that is being made, as `backUp` does, or removed. */
const UNFINISHED = /\.(part|removed)$/;

/** A complete backup. */
export interface KeptBackup {
  name: string;
  /** When it was begun, in epoch milliseconds, as its name says. */
  atMs: number;
}

/** The backups that a service makes in a folder, each in a folder named by its time. Whatever else is there is left alone. */
export class KeptBackups {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The path of a backup begun at a time: `scenepress-2026-11-27T023000Z`. */
  pathAt(ms: number): string {
    const [time = ''] = isoTime(ms).split('.');
    return join(this.folder, `scenepress-${time.replaceAll(':', '')}Z`);
  }

  /** Complete backups, newest first. */
  async list(): Promise<KeptBackup[]> {
    const found: KeptBackup[] = [];
    for (const entry of await readdir(this.folder, { withFileTypes: true })) {
      const [, day, hours, minutes, seconds] = NAME.exec(entry.name) ?? [];
      const atMs = Date.parse(`${day}${hours}:${minutes}:${seconds}Z`);
      if (!entry.isDirectory() || Number.isNaN(atMs)) continue;
      const manifest = await stat(join(this.folder, entry.name, MANIFEST)).catch(() => undefined);
      if (manifest?.isFile()) found.push({ name: entry.name, atMs });
    }
    return found.sort((a, b) => b.atMs - a.atMs);
  }

  /** Removes what interrupted backups and removals have left. */
  async removeUnfinished(): Promise<void> {
    for (const entry of await readdir(this.folder, { withFileTypes: true })) {
      const isUnfinished = UNFINISHED.test(entry.name) && NAME.test(entry.name.replace(UNFINISHED, ''));
      if (isUnfinished && entry.isDirectory()) await this.#remove(entry.name);
    }
  }

  /**
   * Removes the oldest complete backups except the `count` newest and `made`, which may not be among these after the clock
   * was set back. Returns what was left because it contains files that the backup didn't.
   */
  async removeOld(count: number, made: string): Promise<string[]> {
    const kept = await this.list();
    const others = kept.filter(({ name }) => join(this.folder, name) !== made);
    const left: string[] = [];
    for (const { name } of others.slice(count - 1).reverse()) {
      const path = join(this.folder, name);
      const manifest = await readManifest(path, '').catch(() => undefined);
      if (!manifest || (await unlistedIn(path, manifest)) !== undefined) {
        left.push(path);
        continue;
      }
      // So that nothing takes it for complete if the removal is interrupted.
      await rename(path, `${path}.removed`);
      await realDisk.syncFolder(this.folder);
      await this.#remove(`${name}.removed`);
    }
    return left;
  }

  async #remove(name: string): Promise<void> {
    await rm(join(this.folder, name), { recursive: true, force: true });
  }
}

/** The size of a tree on a disk with blocks of the given size, and the number of its files. */
export async function sizeOf(folder: string, blockBytes: number): Promise<{ bytes: number; files: number }> {
  const size = { bytes: 0, files: 0 };
  const { files } = await entriesIn(folder).catch(() => ({ files: [] }));
  for (const path of files) {
    const status = await lstat(join(folder, path)).catch(() => undefined);
    if (!status) continue; // Removed meanwhile.
    size.bytes += Math.ceil(status.size / blockBytes) * blockBytes;
    size.files += 1;
  }
  return size;
}
