/** Characters from this one on count as one, and as the last: none of them is in an id of ours. */
const LAST = 0xff;
/** No key has more, whatever they are. */
const MOST_CHARACTERS = 53;

/**
 * Numbers made of the first characters in which ids differ: never larger for an earlier id, as JavaScript compares text.
 * Comparing them is most of comparing the ids, at a fraction of the time.
 *
 * Few characters occur in ids, so each takes few bits: of hexadecimal digits, ten make a number that a double holds
 * exactly. Of bytes it would be six, and all jobs of some seconds or minutes the same, since ids begin with the time.
 */
export class IdKeys {
  /** What all ids begin with, from the first to the last. */
  readonly prefix: string;
  readonly #base: number;
  readonly #length: number;
  /** Of each character: odd where it occurs; even: between those that do. */
  readonly #digits: Uint16Array = new Uint16Array(LAST + 1);

  /** For ids that are sorted. */
  constructor(ids: string[]) {
    this.prefix = commonPrefix(ids[0] ?? '', ids.at(-1) ?? '');
    const occurs = charactersOf(ids, this.prefix.length);
    let digit = 0;
    for (let code = 0; code < LAST; code += 1) {
      this.#digits[code] = occurs[code] ? digit + 1 : digit;
      if (occurs[code]) digit += 2;
    }
    this.#digits[LAST] = Math.max(1, digit);
    this.#base = (this.#digits[LAST] as number) + 1;
    this.#length = Math.floor(Math.log(Number.MAX_SAFE_INTEGER) / Math.log(this.#base));
  }

  /** Of an id that begins with the prefix. */
  of(id: string): number {
    const last = this.#base - 1;
    const end = this.prefix.length + this.#length;
    let key = 0;
    let digit = 0;
    for (let at = this.prefix.length; at < end; at += 1) {
      // Behind one that counts as several, all ids are the same.
      if (digit !== last)
        digit = at < id.length ? (this.#digits[Math.min(id.charCodeAt(at), LAST)] as number) : 0;
      key = key * this.#base + digit;
    }
    return key;
  }
}

/** By character, 1 for those that occur where keys may reach. */
function charactersOf(ids: string[], start: number): Uint8Array {
  const occurs = new Uint8Array(LAST + 1);
  for (const id of ids) {
    const end = Math.min(id.length, start + MOST_CHARACTERS);
    for (let at = start; at < end; at += 1) occurs[Math.min(id.charCodeAt(at), LAST)] = 1;
  }
  return occurs;
}

function commonPrefix(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}
