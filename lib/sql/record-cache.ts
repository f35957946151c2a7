/** Estimated size of a record without its texts, in bytes. */
const RECORD_BYTES = 1024;

/**
 * A cache of records by id. Holds durable records only: a changed record is dropped when its transaction is durable,
 * and reads that started before are not cached.
 *
 * Records that are used move to `recent`. When it is full, it takes the place of `earlier`, whose records are evicted.
 * A hit in `recent`, as nearly all are, is one look-up. A single Map in the order of use would delete and add the
 * record again; V8 then replaces the Map's hash table every few thousand hits.
 */
export class RecordCache<Rec extends object> {
  readonly #mostBytes: number;
  readonly #textBytesOf: (record: Rec) => number;
  #recent = new Map<string, Rec>();
  #recentBytes = 0;
  #earlier = new Map<string, Rec>();
  #drops = 0;

  constructor({ mostBytes, textBytesOf }: { mostBytes: number; textBytesOf: (record: Rec) => number }) {
    this.#mostBytes = mostBytes;
    this.#textBytesOf = textBytesOf;
  }

  /** Returns the cached record, or the result of `read`. Callers must not modify it. */
  async get(id: string, read: () => Promise<Rec | undefined>): Promise<Rec | undefined> {
    const recent = this.#recent.get(id);
    if (recent) return recent;
    const earlier = this.#earlier.get(id);
    if (earlier) {
      this.#keep(id, earlier);
      return earlier;
    }
    const drops = this.#drops;
    const record = await read();
    if (record && drops === this.#drops) this.#keep(id, record);
    return record;
  }

  drop(id: string): void {
    this.#drops += 1;
    this.#earlier.delete(id);
    const record = this.#recent.get(id);
    if (record && this.#recent.delete(id)) this.#recentBytes -= this.#bytesOf(record);
  }

  clear(): void {
    this.#drops += 1;
    this.#earlier = new Map();
    this.#recent = new Map();
    this.#recentBytes = 0;
  }

  #keep(id: string, record: Rec): void {
    if (this.#recent.has(id)) return; // Cached by a concurrent read.
    const sizeBytes = this.#bytesOf(record);
    const mostBytes = this.#mostBytes / 2;
    if (sizeBytes > mostBytes) return;
    if (this.#recentBytes + sizeBytes > mostBytes) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
      this.#recentBytes = 0;
    }
    this.#recent.set(id, record);
    this.#recentBytes += sizeBytes;
  }

  #bytesOf(record: Rec): number {
    return RECORD_BYTES + this.#textBytesOf(record);
  }
}
