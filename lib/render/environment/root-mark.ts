import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { flush } from './flush.ts';

const FLUSHED = 'flushed';
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/**
 * A file beside an unpacked root that marks it as complete.
 *
 * It first contains the boot id: until a reboot, all written data can be read whether it is on the disk or not. After
 * the flush it contains `flushed`. If the power fails before, the boot id no longer matches and the root is invalid.
 */
export class RootMark {
  readonly #path: string;

  constructor(root: string) {
    this.#path = `${root}.whole`;
  }

  async isThere(): Promise<boolean> {
    const mark = await this.#read();
    return mark !== undefined && (mark === FLUSHED || mark === (await thisBoot()));
  }

  async isFlushed(): Promise<boolean> {
    return (await this.#read()) === FLUSHED;
  }

  /** Marks the root as written. False if there is no boot id: then only `setFlushed` can mark it. */
  async setWritten(): Promise<boolean> {
    const boot = await thisBoot();
    if (boot === undefined) return false;
    await write(this.#path, boot);
    return true;
  }

  /** Marks the root as flushed to the disk. */
  async setFlushed(): Promise<void> {
    const fresh = join(dirname(this.#path), `unfinished-${basename(this.#path)}-${process.pid}`);
    await write(fresh, FLUSHED);
    await flush(fresh);
    await rename(fresh, this.#path);
    await flush(dirname(this.#path));
  }

  /** Removes the mark durably. */
  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
    await flush(dirname(this.#path));
  }

  async #read(): Promise<string | undefined> {
    return readFile(this.#path, 'utf8').catch(() => undefined);
  }
}

/** Writes a world-readable file, like the root. */
async function write(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o644);
}

/** The kernel's boot id; undefined if not available. */
async function thisBoot(): Promise<string | undefined> {
  const id = await readFile(BOOT_ID, 'utf8').catch(() => undefined);
  return id?.trim() || undefined;
}
