import type { Entry } from './cursor.ts';
import { bucketPrefix, type IndexKey } from './tables.ts';

/**
 * An index over the rows in memory: which ids stand in a bucket, and in which order. Made when somebody first looks into
 * it, and kept from then on: to keep it costs a good part of what a new row does.
 */
export class MemoryIndex {
  readonly #keyOf: (row: unknown) => IndexKey;
  readonly #rows: () => Iterable<[id: string, row: unknown]>;
  #idsByPrefix: Map<string, Map<string, string>> | undefined;

  /** `rows`: all that are in memory now; null for one that was removed. */
  constructor(keyOf: (row: unknown) => IndexKey, rows: () => Iterable<[id: string, row: unknown]>) {
    this.#keyOf = keyOf;
    this.#rows = rows;
  }

  /** A row came, changed or went. */
  change(id: string, before: unknown, after: unknown): void {
    if (!this.#idsByPrefix) return;
    if (before !== undefined) this.#remove(this.#idsByPrefix, before);
    if (after !== undefined) this.#add(this.#idsByPrefix, id, after);
  }

  /** What comes behind a prefix, in no order: the ids of rows by their place. */
  *behind(prefix: string): Generator<Entry> {
    this.#idsByPrefix ??= this.#made();
    for (const [order, id] of this.#idsByPrefix.get(prefix) ?? []) yield { id: order, row: id };
  }

  #made(): Map<string, Map<string, string>> {
    const made = new Map<string, Map<string, string>>();
    for (const [id, row] of this.#rows()) if (row !== null) this.#add(made, id, row);
    return made;
  }

  #add(idsByPrefix: Map<string, Map<string, string>>, id: string, row: unknown): void {
    const { bucket, order } = this.#keyOf(row);
    const prefix = bucketPrefix(bucket);
    const ids = idsByPrefix.get(prefix);
    if (ids) ids.set(order, id);
    else idsByPrefix.set(prefix, new Map([[order, id]]));
  }

  #remove(idsByPrefix: Map<string, Map<string, string>>, row: unknown): void {
    const { bucket, order } = this.#keyOf(row);
    const prefix = bucketPrefix(bucket);
    const ids = idsByPrefix.get(prefix);
    ids?.delete(order);
    if (ids?.size === 0) idsByPrefix.delete(prefix);
  }
}
