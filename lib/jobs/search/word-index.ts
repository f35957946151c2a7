/** Words are found by a prefix in the group of their first characters. */
const GROUP_LENGTH = 2;
/** Of a group, without its words. */
const GROUP_BYTES = 300;
/** Of a word and its place in a group, without its characters. */
const WORD_BYTES = 64;
const CHARACTER_BYTES = 2;
/** Of a list, without the numbers. */
const LIST_BYTES = 220;
const NUMBER_BYTES = 4;
/** Of a first list: most words are in few documents. */
const FIRST_PLACES = 2;

/** A document, as most words are in one, or a list: how many there are, then these. */
type Documents = number | Int32Array;

/** In which documents words occur. Documents are numbers; all is in memory. */
export class WordIndex {
  readonly #groups = new Map<string, Map<string, Documents>>();
  #sizeBytes = 0;

  /** What it takes in memory, about. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Adds words of a document, each once. */
  add(document: number, words: Iterable<string>): void {
    for (const word of words) {
      const start = word.slice(0, GROUP_LENGTH);
      const group = this.#groups.get(start) ?? new Map<string, Documents>();
      if (group.size === 0) {
        this.#groups.set(start, group);
        this.#sizeBytes += GROUP_BYTES;
      }
      const known = group.get(word);
      if (known === undefined) {
        group.set(word, document);
        this.#sizeBytes += wordBytes(word);
        continue;
      }
      const documents = this.#withPlace(known);
      if (documents !== known) group.set(word, documents);
      const count = documents[0] as number;
      documents[count + 1] = document;
      documents[0] = count + 1;
    }
  }

  /** Calls `found` with each document that has a word with this beginning; with some several times. */
  each(prefix: string, found: (document: number) => void): void {
    const isShort = prefix.length < GROUP_LENGTH;
    const group = this.#groups.get(prefix.slice(0, GROUP_LENGTH));
    const groups = isShort
      ? [...this.#groups].filter(([start]) => start.startsWith(prefix)).map(([, words]) => words)
      : group
        ? [group]
        : [];
    for (const words of groups) {
      for (const [word, documents] of words) {
        if (!word.startsWith(prefix)) continue;
        if (typeof documents === 'number') found(documents);
        else for (let i = 1; i <= (documents[0] as number); i++) found(documents[i] as number);
      }
    }
  }

  /** Removes documents, and the words that no other has. */
  remove(documents: ReadonlySet<number>): void {
    for (const [start, words] of this.#groups) {
      for (const [word, of] of words) {
        if (hasOthers(of, documents)) continue;
        words.delete(word);
        this.#sizeBytes -= wordBytes(word) + (typeof of === 'number' ? 0 : listBytes(of));
      }
      if (words.size > 0) continue;
      this.#groups.delete(start);
      this.#sizeBytes -= GROUP_BYTES;
    }
  }

  /** The same documents, with a place for one more. */
  #withPlace(documents: Documents): Int32Array {
    if (typeof documents === 'number') {
      const list = new Int32Array(FIRST_PLACES + 1);
      list[0] = 1;
      list[1] = documents;
      this.#sizeBytes += listBytes(list);
      return list;
    }
    const count = documents[0] as number;
    if (count + 1 < documents.length) return documents;
    const larger = new Int32Array(Math.ceil(count * 1.5) + 2);
    larger.set(documents);
    this.#sizeBytes += listBytes(larger) - listBytes(documents);
    return larger;
  }
}

function wordBytes({ length }: string): number {
  return WORD_BYTES + CHARACTER_BYTES * length;
}

function listBytes({ length }: Int32Array): number {
  return LIST_BYTES + NUMBER_BYTES * length;
}

/** Takes documents out of a list; whether others are left. */
function hasOthers(of: Documents, removed: ReadonlySet<number>): boolean {
  if (typeof of === 'number') return !removed.has(of);
  let kept = 0;
  for (let i = 1; i <= (of[0] as number); i++) {
    const document = of[i] as number;
    if (!removed.has(document)) of[++kept] = document;
  }
  of[0] = kept;
  return kept > 0;
}
