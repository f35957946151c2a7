import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { flush } from './flush.ts';

const FLUSHED = 'flushed';
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/**
 * The mark beside an unpacked root that says that it is whole.
 *
 * First it names this start of the machine: what was written since is there for every process, on the disk or not. Once
 * all is on the disk the mark says so, for good. After a power cut before that, it names a start of the machine that is
 * over, and the root counts for nothing.
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

  /** All is written. False where nobody can tell one start of the machine from another: then only `setFlushed` helps. */
  async setWritten(): Promise<boolean> {
    const boot = await thisBoot();
    if (boot === undefined) return false;
    await write(this.#path, boot);
    return true;
  }

  /** All is on the disk. */
  async setFlushed(): Promise<void> {
    const fresh = join(dirname(this.#path), `unfinished-${basename(this.#path)}-${process.pid}`);
    await write(fresh, FLUSHED);
    await flush(fresh);
    await rename(fresh, this.#path);
    await flush(dirname(this.#path));
  }

  /** Not even a power cut brings it back. */
  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
    await flush(dirname(this.#path));
  }

  async #read(): Promise<string | undefined> {
    return readFile(this.#path, 'utf8').catch(() => undefined);
  }
}

/** For everyone to read, as the root is. */
async function write(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o644);
}

/** What identifies the time since the machine was started; undefined where it can't be told. */
async function thisBoot(): Promise<string | undefined> {
  const id = await readFile(BOOT_ID, 'utf8').catch(() => undefined);
  return id?.trim() || undefined;
}
