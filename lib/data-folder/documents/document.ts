import { Low } from 'lowdb';
import { isScenepressError, ScenepressError } from '../../base/errors.ts';
import { isOutOfSpace } from '../../files/disk.ts';
import type { DocumentFile } from './document-file.ts';

/** The durable content of a document, in memory. */
export interface DocumentContent<Data, Draft> {
  /** Replaces everything. */
  load(data: Data): void;
  /** Everything, in the order in which it is written. */
  all(): Data;
  /** Starts a set of changes. */
  draft(): Draft;
  /** The whole content with the changes, for the file; undefined when nothing changed. */
  merged(draft: Draft): Data | undefined;
  /** Applies the changes. */
  commit(draft: Draft): void;
}

export interface DocumentOptions<Data, Draft> {
  file: DocumentFile<Data>;
  content: DocumentContent<Data, Draft>;
  /** Called when a write found the disk full; the next write waits for it. */
  onFullDisk: () => Promise<void>;
}

interface Change<Draft> {
  apply: (draft: Draft) => void;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * A lowdb document: read at the start, and completely rewritten with each change.
 *
 * Changes run sequentially; those that arrive during a write share the next one. Readers see durable changes only, so
 * a failed write leaves memory unchanged.
 */
export class Document<Data, Draft> {
  readonly #file: DocumentFile<Data>;
  readonly #content: DocumentContent<Data, Draft>;
  readonly #onFullDisk: () => Promise<void>;
  readonly #low: Low<Data>;
  /** The durable data; lowdb holds the data being written. */
  #durable: Data;
  #open = false;
  #waiting: Change<Draft>[] = [];
  #writing: Promise<void> | undefined;

  constructor({ file, content, onFullDisk }: DocumentOptions<Data, Draft>) {
    this.#file = file;
    this.#content = content;
    this.#onFullDisk = onFullDisk;
    this.#low = new Low(file, file.empty);
    this.#durable = file.empty;
  }

  get path(): string {
    return this.#file.path;
  }

  /** Reads the file; false when it does not exist. Error: `storage_damaged`. */
  async start(): Promise<boolean> {
    if (this.#open) return true;
    this.#low.data = this.#file.empty;
    await this.#low.read();
    this.#load(this.#low.data);
    await this.#file.prime(this.#content.all());
    this.#open = this.#file.isThere;
    return this.#open;
  }

  /** Creates the missing file. */
  async create(data: Data = this.#file.empty): Promise<void> {
    this.#low.data = data;
    await this.#low.write().catch(async (error: unknown) => {
      throw await this.#explained(error);
    });
    this.#load(data);
    this.#open = true;
  }

  /** Resolves when all pending changes are written. */
  async stop(): Promise<void> {
    this.#open = false;
    await this.#writing;
  }

  /**
   * Runs `work` on a draft and writes the draft. When `work` throws, its changes so far are not undone: it must throw
   * before changing anything.
   */
  change<T>(work: (draft: Draft) => T): Promise<T> {
    if (!this.#open) return Promise.reject(new ScenepressError('not_running', 'The data folder is closed.'));
    return new Promise<T>((resolve, reject) => {
      let result: T;
      const apply = (draft: Draft) => {
        result = work(draft);
      };
      this.#waiting.push({ apply, resolve: () => resolve(result), reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Writes the durable content to another folder. */
  async copyTo(folder: string): Promise<void> {
    await this.#file.writeCopy(folder, this.#durable);
  }

  #load(data: Data): void {
    this.#durable = data;
    this.#content.load(data);
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve(); // Changes made in the same turn share a write.
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      await this.#write(group);
    }
    this.#writing = undefined;
  }

  async #write(group: Change<Draft>[]): Promise<void> {
    const draft = this.#content.draft();
    const applied = group.filter(({ apply, reject }) => {
      try {
        apply(draft);
        return true;
      } catch (error) {
        reject(error);
        return false;
      }
    });
    try {
      const data = this.#content.merged(draft);
      if (data !== undefined) {
        this.#low.data = data;
        await this.#low.write();
        this.#durable = data;
        this.#content.commit(draft);
      }
      for (const { resolve } of applied) resolve();
    } catch (cause) {
      this.#low.data = this.#durable;
      const error = await this.#explained(cause);
      for (const { reject } of applied) reject(error);
    }
  }

  async #explained(cause: unknown): Promise<unknown> {
    if (isScenepressError(cause)) return cause;
    const isFull = isOutOfSpace(cause);
    if (isFull) await this.#onFullDisk();
    const message = `Nothing was changed: writing ${this.#file.path} failed (${(cause as Error).message}).`;
    return new ScenepressError(isFull ? 'storage_full' : 'storage_failed', message, { cause });
  }
}
