import type { Block } from './pack-format.ts';

/** So many bytes of an id make a number that a double holds exactly. */
const KEY_BYTES = 6;
const LARGEST_BYTE = 0xff;

/**
 * Finds the block that an id lies in. Ids are texts all over the memory, and a search would wait for a dozen of them; so
 * it compares numbers made of their first bytes, which lie side by side, and texts only where the numbers are equal.
 */
export class BlockSearch {
  readonly #blocks: Block[];
  /** What all ids begin with, from the first block's to the last one's. */
  readonly #prefix: string;
  readonly #keys: Float64Array;

  constructor(blocks: Block[]) {
    this.#blocks = blocks;
    this.#prefix = commonPrefix(blocks[0]?.firstId ?? '', blocks.at(-1)?.firstId ?? '');
    this.#keys = Float64Array.from(blocks, ({ firstId }) => keyOf(firstId, this.#prefix.length));
  }

  /** The place of the last block that begins with this id or an earlier one; -1 when all begin later. */
  lastNotAfter(id: string): number {
    if (!id.startsWith(this.#prefix)) return id < this.#prefix ? -1 : this.#blocks.length - 1;
    const key = keyOf(id, this.#prefix.length);
    const end = this.#keys.length;
    const from = firstIn(0, end, (place) => (this.#keys[place] as number) >= key);
    const to = firstIn(from, end, (place) => (this.#keys[place] as number) > key);
    return firstIn(from, to, (place) => (this.#blocks[place] as Block).firstId > id) - 1;
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
