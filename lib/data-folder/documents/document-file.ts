import type { Adapter } from 'lowdb';
import { ScenepressError } from '../../base/errors.ts';
import { type Disk, replaceFile, writeBeside } from '../../files/disk.ts';
import { turn } from '../../time/clock.ts';

/** Where documents are. */
export interface DocumentPlace {
  disk: Disk;
  folder: string;
  /** Called when a write found the disk full; the next write waits for it. */
  onFullDisk: () => Promise<void>;
}

/** The file format of a document. */
export interface DocumentFormat<Data> {
  /** The initial content. */
  empty: Data;
  /** Throws a {@link Flaw} when the text is not valid. */
  parse(text: string): Data;
  /** Creates a printer, which may cache its last output, and prints a piece when it is taken. */
  printer(): (data: Data) => Iterable<Buffer>;
}

/** A format error; the message completes a sentence that starts with the file name. */
export class Flaw extends Error {}

/**
 * lowdb's adapter for one file. Writes are atomic and durable (see `replaceFile`). A file that was changed externally
 * is not overwritten.
 */
export class DocumentFile<Data> implements Adapter<Data> {
  readonly path: string;
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #name: string;
  readonly #format: DocumentFormat<Data>;
  readonly #print: (data: Data) => Iterable<Buffer>;
  #stamp: string | undefined;
  /** The last write was renamed, but may not be durable. */
  #isUncertain = false;

  constructor(options: { disk: Disk; folder: string; name: string; format: DocumentFormat<Data> }) {
    this.#disk = options.disk;
    this.#folder = options.folder;
    this.#name = options.name;
    this.#format = options.format;
    this.#print = options.format.printer();
    this.path = `${options.folder}/${options.name}`;
  }

  /** Whether the file exists. */
  get isThere(): boolean {
    return this.#stamp !== undefined;
  }

  get empty(): Data {
    return this.#format.empty;
  }

  /** Null when the file does not exist. Error: `storage_damaged`. */
  async read(): Promise<Data | null> {
    await this.#disk.remove(this.#temporaryPath);
    this.#stamp = await this.#disk.stampOf(this.path);
    this.#isUncertain = false;
    const bytes = await this.#disk.read(this.path);
    if (!bytes) return null;
    const data = this.#parse(bytes);
    // A manual edit, or a write of a killed process, may not be durable yet.
    const file = await this.#disk.open(this.path, 'existing');
    try {
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#disk.syncFolder(this.#folder);
    return data;
  }

  /** When it rejects, the file is unchanged. When that is uncertain, all later writes are rejected. */
  async write(data: Data): Promise<void> {
    if (this.#isUncertain) throw this.#uncertain();
    await writeBeside(this.#disk, this.#folder, this.#name, this.#print(data));
    const stamp = await this.#disk.stampOf(this.#temporaryPath);
    try {
      await this.#assertUnchanged();
      await this.#disk.rename(this.#temporaryPath, this.path);
    } catch (error) {
      await this.#disk.remove(this.#temporaryPath).catch(() => {});
      throw error;
    }
    this.#stamp = stamp;
    try {
      await this.#disk.syncFolder(this.#folder);
    } catch (cause) {
      this.#isUncertain = true;
      throw this.#uncertain(cause);
    }
  }

  /** Prints the data into the printer's cache, so that the first change doesn't have to. */
  async prime(data: Data): Promise<void> {
    for (const _ of this.#print(data)) await turn();
  }

  async writeCopy(folder: string, data: Data): Promise<void> {
    await replaceFile(this.#disk, folder, this.#name, this.#print(data));
  }

  get #temporaryPath(): string {
    return `${this.path}.new`;
  }

  async #assertUnchanged(): Promise<void> {
    if ((await this.#disk.stampOf(this.path)) === this.#stamp) return;
    throw new ScenepressError(
      'conflict',
      `Nothing was changed: ${this.path} was changed by another program while Scenepress runs. Restart Scenepress, so ` +
        'that it reads the file again, then repeat the command.',
    );
  }

  #parse(bytes: Buffer): Data {
    try {
      return this.#format.parse(textOf(bytes));
    } catch (cause) {
      if (!(cause instanceof Flaw)) throw cause;
      throw new ScenepressError(
        'storage_damaged',
        `${this.path} can't be used: ${cause.message}. Nothing was changed. Correct it with an editor or take it from a ` +
          "backup, then start again; if you can't, `scenepress recover` says what can be saved.",
        { cause },
      );
    }
  }

  #uncertain(cause?: unknown): ScenepressError {
    return new ScenepressError(
      'storage_failed',
      `The disk failed during a change of ${this.path}: whether the file was changed is unknown. Restart Scenepress, ` +
        'which reads the file again; until then, it is not changed again.',
      { cause },
    );
  }
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Flaw('it is not valid UTF-8');
  }
}
