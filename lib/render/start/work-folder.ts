import { constants, lstatSync } from 'node:fs';
import { access, chmod, lstat, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOf, type KnownFolder, makeFolderWithin } from '../../files/disk.ts';

/** Renders may run as separate users, who must be able to traverse the folder but not list it. */
const MODE = 0o711;
const PROBE = 'probe';
/** Ignored here: a full disk is detected elsewhere. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** The folder for running renders, with a subfolder per worker. */
export class WorkFolder {
  readonly path: string;
  readonly #within: KnownFolder | undefined;
  #known: string | undefined;

  /** `within` is the data folder that contains it, if one does: nothing is made in another folder at its path. */
  constructor(path: string, within?: KnownFolder) {
    this.path = path;
    this.#within = within;
  }

  /** Creates the folder when missing. */
  async make(): Promise<void> {
    makeFolderWithin(this.path, MODE, this.#within);
    await chmod(this.path, MODE);
    this.#known = identityOf(await lstat(this.path));
  }

  /**
   * Checks that workers can use the folder; with `write`, by writing to it. Creates it again when it is gone; true
   * when the folder was replaced. Errors: those of the file system.
   */
  async check({ write }: { write: boolean }): Promise<boolean> {
    const status = await lstat(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    // A worker may have created it first, with another mode.
    const isNew = status === undefined || identityOf(status) !== this.#known;
    if (isNew || (status.mode & 0o777) !== MODE) await this.make();
    await access(this.path, constants.W_OK | constants.X_OK);
    if (write) await this.#write();
    return isNew;
  }

  /** Whether the folder at the path is the one that was made. */
  get isInPlace(): boolean {
    return identityAt(this.path) === this.#known;
  }

  async #write(): Promise<void> {
    const probe = join(this.path, PROBE);
    try {
      await writeFile(probe, PROBE);
    } catch (error) {
      if (!FULL.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
    await rm(probe, { force: true });
  }
}

/** The identity of the folder at a path; undefined when it cannot be read. */
export function identityAt(path: string): string | undefined {
  try {
    return identityOf(lstatSync(path));
  } catch {
    return undefined;
  }
}
