import { constants, lstatSync } from 'node:fs';
import { access, chmod, lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Workers' renders run as users of their own, who must be able to pass through, not to look around. */
const MODE = 0o711;
const PROBE = 'probe';
/** A full disk is noticed, and reported, elsewhere. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** The folder for renders in progress, below which every worker has a folder of its own. */
export class WorkFolder {
  readonly path: string;
  #known: string | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Makes it where it isn't there. */
  async make(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: MODE });
    await chmod(this.path, MODE);
    this.#known = identityOf(await lstat(this.path));
  }

  /**
   * Sees whether workers can use it, with `write` by writing to it. One that is gone is made again; true when the folder is
   * another one than before. Errors: those of the file system.
   */
  async check({ write }: { write: boolean }): Promise<boolean> {
    const status = await lstat(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    // A worker that was quicker makes it with other rights.
    const isNew = status === undefined || identityOf(status) !== this.#known;
    if (isNew || (status.mode & 0o777) !== MODE) await this.make();
    await access(this.path, constants.W_OK | constants.X_OK);
    if (write) await this.#write();
    return isNew;
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

/** The identity of the folder at a path; undefined when none can be seen there. */
export function identityAt(path: string): string | undefined {
  try {
    return identityOf(lstatSync(path));
  } catch {
    return undefined;
  }
}

/** Tells a folder from a later one with the same name, to which the file system may give the same number. */
function identityOf(status: { dev: number; ino: number; birthtimeMs: number }): string {
  return `${status.dev}:${status.ino}:${status.birthtimeMs}`;
}
