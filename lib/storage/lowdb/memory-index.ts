import type { Entry } from './cursor.ts';
import { bucketPrefix, type IndexKey } from './tables.ts';

/** An index over the rows in memory: which ids stand in a bucket, and in which order. */
export class MemoryIndex {
  readonly #keyOf: (row: unknown) => IndexKey;
  readonly #idsByPrefix = new Map<string, Map<string, string>>();

  constructor(keyOf: (row: unknown) => IndexKey) {
    this.#keyOf = keyOf;
  }

  add(id: string, row: unknown): void {
    const { bucket, order } = this.#keyOf(row);
    const prefix = bucketPrefix(bucket);
    const ids = this.#idsByPrefix.get(prefix);
    if (ids) ids.set(order, id);
    else this.#idsByPrefix.set(prefix, new Map([[order, id]]));
  }

  remove(row: unknown): void {
    const { bucket, order } = this.#keyOf(row);
    const prefix = bucketPrefix(bucket);
    const ids = this.#idsByPrefix.get(prefix);
    ids?.delete(order);
    if (ids?.size === 0) this.#idsByPrefix.delete(prefix);
  }

  /** What comes behind a prefix, in no order: the ids of rows by their place. */
  *behind(prefix: string): Generator<Entry> {
    for (const [order, id] of this.#idsByPrefix.get(prefix) ?? []) yield { id: order, row: id };
  }
}
