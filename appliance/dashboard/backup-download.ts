import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { packTar } from 'modern-tar/fs';
import { ScenepressError } from '../../lib/internal.ts';
import type { BackupReport } from '../../lib/operations.ts';
import { texts } from './language/texts.ts';

/** Starts the names of copies in the data folder. */
const PREFIX = '.backup-';

/** Backups for download: a verified copy in the data folder, packed while it is sent, and then removed. */
export class BackupDownload {
  readonly #folder: string;
  #isUnderWay = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Removes what a killed service left behind. */
  async clear(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names.filter((name) => name.startsWith(PREFIX))) await this.#remove(name);
  }

  /** `backUp` makes the copy. Error: `conflict` while another backup is prepared or sent. */
  async open(backUp: (folder: string) => Promise<BackupReport>): Promise<Readable> {
    if (this.#isUnderWay) {
      throw new ScenepressError('conflict', texts().errors.backupIsDownloaded);
    }
    this.#isUnderWay = true;
    const name = `${PREFIX}${randomUUID()}`;
    const end = async () => {
      await this.#remove(name);
      this.#isUnderWay = false;
    };
    try {
      await backUp(join(this.#folder, name));
      const tar = packTar([
        { type: 'directory', source: join(this.#folder, name), target: 'scenepress-backup' },
      ]);
      // Also when its client has gone.
      tar.once('close', () => void end());
      return tar;
    } catch (error) {
      await end();
      throw error;
    }
  }

  async #remove(name: string): Promise<void> {
    await rm(join(this.#folder, name), { recursive: true, force: true }).catch(() => {});
  }
}
