import { IdKeys } from './id-keys.ts';

/** A block as it stands in a pack. */
export interface Block {
  firstId: string;
  at: number;
  sizeBytes: number;
  checksum: number;
}

/** The same, in the order that a pack's index has it in. */
export type StoredBlock = [firstId: string, at: number, sizeBytes: number, checksum: number];

/**
 * The blocks of a table in a pack, in order. There may be hundreds of thousands, for as long as the process runs: as
 * objects they would take several times the memory, and every garbage collection would look at each. So they stand in
 * columns, and are made into objects when somebody asks.
 *
 * A search compares keys of the ids, which lie side by side, and the ids themselves only where keys are equal.
 */
export class BlockList {
  static readonly empty: BlockList = new BlockList([]);

  readonly length: number;
  /** The first ids, one behind the other, and where each ends. */
  readonly #ids: string;
  readonly #ends: Uint32Array;
  readonly #places: Float64Array;
  readonly #sizes: Uint32Array;
  readonly #checksums: Uint32Array;
  readonly #idKeys: IdKeys;
  readonly #keys: Float64Array;

  constructor(blocks: StoredBlock[]) {
    const { length } = blocks;
    this.length = length;
    this.#ends = new Uint32Array(length);
    this.#places = new Float64Array(length);
    this.#sizes = new Uint32Array(length);
    this.#checksums = new Uint32Array(length);
    const ids = blocks.map(([firstId]) => firstId);
    this.#ids = ids.join('');
    this.#idKeys = new IdKeys(ids);
    this.#keys = Float64Array.from(ids, (id) => this.#idKeys.of(id));
    let end = 0;
    for (let place = 0; place < length; place += 1) {
      const [firstId, at, sizeBytes, checksum] = blocks[place] as StoredBlock;
      end += firstId.length;
      this.#ends[place] = end;
      this.#places[place] = at;
      this.#sizes[place] = sizeBytes;
      this.#checksums[place] = checksum;
    }
  }

  /** Undefined behind the last one. */
  firstId(place: number): string | undefined {
    if (place >= this.length) return undefined;
    return this.#ids.slice(place === 0 ? 0 : this.#ends[place - 1], this.#ends[place]);
  }

  /** Undefined before the first one and behind the last one. */
  at(place: number): Block | undefined {
    if (place < 0 || place >= this.length) return undefined;
    return {
      firstId: this.firstId(place) as string,
      at: this.#places[place] as number,
      sizeBytes: this.#sizes[place] as number,
      checksum: this.#checksums[place] as number,
    };
  }

  *[Symbol.iterator](): Generator<Block> {
    for (let place = 0; place < this.length; place += 1) yield this.at(place) as Block;
  }

  /** The place of the last block that begins with this id or an earlier one; -1 when all begin later. */
  lastNotAfter(id: string): number {
    const { prefix } = this.#idKeys;
    if (!id.startsWith(prefix)) return id < prefix ? -1 : this.length - 1;
    const key = this.#idKeys.of(id);
    const end = firstIn(0, this.length, (place) => (this.#keys[place] as number) > key);
    const isUnlike = end === 0 || this.#keys[end - 1] !== key;
    if (isUnlike || (this.firstId(end - 1) as string) <= id) return end - 1;
    const start = firstIn(0, end, (place) => this.#keys[place] === key);
    return firstIn(start, end, (place) => this.#beginsBehind(place, id)) - 1;
  }

  /** Of an id with the common prefix. In place, because a text that is cut out for it is slow to make and to compare. */
  #beginsBehind(place: number, id: string): boolean {
    const start = place === 0 ? 0 : (this.#ends[place - 1] as number);
    const length = (this.#ends[place] as number) - start;
    for (let at = this.#idKeys.prefix.length; at < length && at < id.length; at += 1) {
      const difference = this.#ids.charCodeAt(start + at) - id.charCodeAt(at);
      if (difference !== 0) return difference > 0;
    }
    return length > id.length;
  }
}

/** The first place for which it is so, and it is for all behind it; `end` when there is none. */
function firstIn(start: number, end: number, isSo: (place: number) => boolean): number {
  let [low, high] = [start, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
