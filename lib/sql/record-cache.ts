/** What a record takes beside its texts, in bytes: an estimate. */
const RECORD_BYTES = 1024;

/**
 * Records that were read, by id, the latest at hand. It holds only what is durable: a record that a transaction changes is
 * dropped when that is durable, and a read that began before then isn't kept.
 */
export class RecordCache<Rec extends object> {
  readonly #mostBytes: number;
  readonly #textBytesOf: (record: Rec) => number;
  /** In the order of their last use. */
  readonly #records = new Map<string, Rec>();
  #sizeBytes = 0;
  #drops = 0;

  constructor({ mostBytes, textBytesOf }: { mostBytes: number; textBytesOf: (record: Rec) => number }) {
    this.#mostBytes = mostBytes;
    this.#textBytesOf = textBytesOf;
  }

  /** The record that is kept, or the one that `read` finds. Callers must not change it. */
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
    this.#sizeBytes = 0;
  }

  #keep(id: string, record: Rec): void {
    this.#remove(id); // Another read may have kept it meanwhile.
    this.#records.set(id, record);
    this.#sizeBytes += this.#bytesOf(record);
    for (const oldest of this.#records.keys()) {
      if (this.#sizeBytes <= this.#mostBytes) return;
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
