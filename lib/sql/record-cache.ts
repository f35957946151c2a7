import assert from 'node:assert/strict';

/** Estimated size of a record without its texts, in bytes. */
const RECORD_BYTES = 1024;

/**
 * An LRU cache of records by id. Holds durable records only: a changed record is dropped when its transaction is
 * durable, and reads that started before are not cached.
 */
export class RecordCache<Rec extends object> {
  readonly #mostBytes: number;
  readonly #textBytesOf: (record: Rec) => number;
  /** Ordered by last use. */
  readonly #records = new Map<string, Rec>();
  /**
   * Yields the ids in that order. Reused, because a Map skips deleted entries one by one: a new iterator would pass
   * thousands of them for each record that is removed.
   */
  #oldest = this.#records.keys();
  #sizeBytes = 0;
  #drops = 0;

  constructor({ mostBytes, textBytesOf }: { mostBytes: number; textBytesOf: (record: Rec) => number }) {
    this.#mostBytes = mostBytes;
    this.#textBytesOf = textBytesOf;
  }

  /** Returns the cached record, or the result of `read`. Callers must not modify it. */
  async get(id: string, read: () => Promise<Rec | undefined>): Promise<Rec | undefined> {
    const kept = this.#records.get(id);
    if (kept) {
      this.#records.delete(id);
      this.#records.set(id, kept);
      return kept;
    }
    const drops = this.#drops;
    const record = await read();
    if (record && drops === this.#drops) this.#keep(id, record);
    return record;
  }

  drop(id: string): void {
    this.#drops += 1;
    this.#remove(id);
  }

  clear(): void {
    this.#drops += 1;
    this.#records.clear();
    this.#oldest = this.#records.keys();
    this.#sizeBytes = 0;
  }

  #keep(id: string, record: Rec): void {
    this.#remove(id); // A concurrent read may have cached it.
    this.#records.set(id, record);
    this.#sizeBytes += this.#bytesOf(record);
    while (this.#sizeBytes > this.#mostBytes) {
      const { value: oldest } = this.#oldest.next();
      assert(oldest !== undefined, 'a cache with a size has records');
      this.#remove(oldest);
    }
  }

  #remove(id: string): void {
    const record = this.#records.get(id);
    if (!record) return;
    this.#records.delete(id);
    this.#sizeBytes -= this.#bytesOf(record);
  }

  #bytesOf(record: Rec): number {
    return RECORD_BYTES + this.#textBytesOf(record);
  }
}
