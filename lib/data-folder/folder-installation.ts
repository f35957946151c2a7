import type { BigIntStats } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OneAtATime } from '../async/one-at-a-time.ts';
import { ScenepressError } from '../base/errors.ts';
import { DATA_FILES } from '../files/data-files.ts';
import { type Disk, replaceFile } from '../files/disk.ts';
import type { InstallationRecord, InstallationRecords } from '../storage/installation-records.ts';

/** The clock of a file system ticks at least every 10 ms, which takes far fewer changes. */
const MOST_CHANGES = 10_000;

/**
 * The record of a data folder whose artifacts are kept elsewhere, in a file that no backup contains. The place is the
 * folder's inode with the time of its creation, which a copy does not have, and which a new name or mount point keeps.
 */
export class FolderInstallation implements InstallationRecords {
  readonly #folder: string;
  readonly #disk: Disk;
  readonly #changes = new OneAtATime();

  constructor(folder: string, disk: Disk) {
    this.#folder = folder;
    this.#disk = disk;
  }

  async here(): Promise<string> {
    const status = await stat(this.#folder, { bigint: true });
    return `${status.ino}/${await createdAtNs(this.#folder, status)}`;
  }

  async read(): Promise<InstallationRecord | undefined> {
    const path = join(this.#folder, DATA_FILES.installation);
    const bytes = await this.#disk.read(path);
    if (!bytes) return undefined;
    try {
      const record = JSON.parse(bytes.toString()) as Partial<InstallationRecord>;
      const { installationId, place, stamp } = record;
      if (typeof installationId === 'string' && typeof place === 'string' && typeof stamp === 'number')
        return { installationId, place, stamp };
    } catch {
      // Not JSON.
    }
    throw new ScenepressError(
      'storage_damaged',
      `${path} can't be read. Remove it, then run \`scenepress installation continue\`.`,
    );
  }

  change(
    change: (before: InstallationRecord | undefined) => InstallationRecord,
  ): Promise<InstallationRecord> {
    return this.#changes.run(async () => {
      const record = change(await this.read());
      const bytes = Buffer.from(`${JSON.stringify(record, null, 2)}\n`);
      await replaceFile(this.#disk, this.#folder, DATA_FILES.installation, [bytes]);
      return record;
    });
  }
}

/** When a folder was created, in nanoseconds since 1970; 0 if the file system or the kernel does not tell. */
async function createdAtNs(folder: string, { birthtimeNs, ctimeNs, mode }: BigIntStats): Promise<bigint> {
  if (birthtimeNs !== ctimeNs) return birthtimeNs;
  // Node gives the time of the last change if there is none of the creation; or the folder is new.
  for (let change = 0; change < MOST_CHANGES; change++) {
    await chmod(folder, Number(mode & 0o7777n));
    const now = await stat(folder, { bigint: true });
    if (now.ctimeNs !== ctimeNs) return now.birthtimeNs === birthtimeNs ? birthtimeNs : 0n;
  }
  return 0n;
}
