/** A block as it stands in a pack. */
export interface Block {
  firstId: string;
  at: number;
  sizeBytes: number;
  checksum: number;
}

/** The same, in the order that a pack's index has it in. */
export type StoredBlock = [firstId: string, at: number, sizeBytes: number, checksum: number];

/** So many bytes of an id make a number that a double holds exactly. */
const KEY_BYTES = 6;
const LARGEST_BYTE = 0xff;

/**
 * The blocks of a table in a pack, in order. There may be hundreds of thousands, for as long as the process runs: as
 * objects they would take several times the memory, and every garbage collection would look at each. So they stand in
 * columns, and are made into objects when somebody asks.
 *
 * A search compares numbers made of the ids' first bytes, which lie side by side, and texts only where the numbers are
 * equal.
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
  /** What all ids begin with, from the first block's to the last one's. */
  readonly #prefix: string;
  readonly #keys: Float64Array;

  constructor(blocks: StoredBlock[]) {
    const { length } = blocks;
    this.length = length;
    this.#ends = new Uint32Array(length);
    this.#places = new Float64Array(length);
    this.#sizes = new Uint32Array(length);
    this.#checksums = new Uint32Array(length);
    this.#prefix = commonPrefix(blocks[0]?.[0] ?? '', blocks.at(-1)?.[0] ?? '');
    this.#keys = new Float64Array(length);
    const ids: string[] = [];
    let end = 0;
    for (let place = 0; place < length; place += 1) {
      const [firstId, at, sizeBytes, checksum] = blocks[place] as StoredBlock;
      ids.push(firstId);
      end += firstId.length;
      this.#ends[place] = end;
      this.#places[place] = at;
      this.#sizes[place] = sizeBytes;
      this.#checksums[place] = checksum;
      this.#keys[place] = keyOf(firstId, this.#prefix.length);
    }
    this.#ids = ids.join('');
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
    if (!id.startsWith(this.#prefix)) return id < this.#prefix ? -1 : this.length - 1;
    const key = keyOf(id, this.#prefix.length);
    const end = firstIn(0, this.length, (place) => (this.#keys[place] as number) > key);
    if (end === 0 || this.#keys[end - 1] !== key) return end - 1;
    const start = firstIn(0, end, (place) => this.#keys[place] === key);
    return firstIn(start, end, (place) => this.#beginsBehind(place, id)) - 1;
  }

  /** Of an id with the common prefix. In place, because a text that is cut out for it is slow to make and to compare. */
  #beginsBehind(place: number, id: string): boolean {
    const start = place === 0 ? 0 : (this.#ends[place - 1] as number);
    const length = (this.#ends[place] as number) - start;
    for (let at = this.#prefix.length; at < length && at < id.length; at += 1) {
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

/** Never larger for an earlier id, as JavaScript compares text. What isn't a byte makes all that follows it equal. */
function keyOf(id: string, skip: number): number {
  let key = 0;
  let code = 0;
  for (let at = skip; at < skip + KEY_BYTES; at += 1) {
    if (code < LARGEST_BYTE) code = at < id.length ? Math.min(id.charCodeAt(at), LARGEST_BYTE) : 0;
    key = key * 256 + code;
  }
  return key;
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}
