/** The increment of sequences whose keys are taken in blocks. */
export const KEYS_PER_BLOCK = 64;

/**
 * Keys of new rows. A process takes them from the table's sequence in blocks, so that an INSERT needs no round trip for
 * its key. Those that are not used are lost.
 */
export class KeyBlocks {
  /** By table. */
  readonly #keys = new Map<string, number[]>();

  /** Undefined when a block must be added first. */
  take(table: string): number | undefined {
    return this.#keys.get(table)?.pop();
  }

  /** `first`: the value of the sequence. */
  add(table: string, first: number): void {
    const last = first + KEYS_PER_BLOCK - 1;
    const block = Array.from({ length: KEYS_PER_BLOCK }, (_, i) => last - i);
    this.#keys.set(table, [...block, ...(this.#keys.get(table) ?? [])]);
  }

  /** After a crash, the server may have forgotten a block that no committed transaction used, and give it again. */
  drop(): void {
    this.#keys.clear();
  }
}
