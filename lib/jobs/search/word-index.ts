/** Words are found by a prefix in the group of their first characters. */
const GROUP_LENGTH = 2;
const FIRST_PLACES = 2;
/** Of a word and its list, without the numbers. */
const WORD_BYTES = 160;
const NUMBER_BYTES = 4;

interface Numbers {
  list: Int32Array;
  count: number;
}

/** In which documents words occur. Documents are numbers; all is in memory. */
export class WordIndex {
  readonly #groups = new Map<string, Map<string, Numbers>>();
  #sizeBytes = 0;

  /** What it takes in memory, about. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Adds words of a document, each once. */
  add(document: number, words: Iterable<string>): void {
    for (const word of words) {
      const numbers = this.#numbersOf(word);
      if (numbers.count === numbers.list.length) {
        const larger = new Int32Array(Math.ceil(numbers.count * 1.5) + 1);
        larger.set(numbers.list);
        this.#sizeBytes += NUMBER_BYTES * (larger.length - numbers.list.length);
        numbers.list = larger;
      }
      numbers.list[numbers.count++] = document;
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
      for (const [word, { list, count }] of words) {
        if (!word.startsWith(prefix)) continue;
        for (let i = 0; i < count; i++) found(list[i] as number);
      }
    }
  }

  /** Removes documents, and the words that no other has. */
  remove(documents: ReadonlySet<number>): void {
    for (const [start, words] of this.#groups) {
      for (const [word, numbers] of words) {
        let kept = 0;
        for (let i = 0; i < numbers.count; i++) {
          const document = numbers.list[i] as number;
          if (!documents.has(document)) numbers.list[kept++] = document;
        }
        numbers.count = kept;
        if (kept > 0) continue;
        words.delete(word);
        this.#sizeBytes -= WORD_BYTES + NUMBER_BYTES * numbers.list.length;
      }
      if (words.size === 0) this.#groups.delete(start);
    }
  }

  #numbersOf(word: string): Numbers {
    const start = word.slice(0, GROUP_LENGTH);
    const group = this.#groups.get(start) ?? new Map<string, Numbers>();
    if (group.size === 0) this.#groups.set(start, group);
    const known = group.get(word);
    if (known) return known;
    const numbers = { list: new Int32Array(FIRST_PLACES), count: 0 };
    group.set(word, numbers);
    this.#sizeBytes += WORD_BYTES + NUMBER_BYTES * FIRST_PLACES;
    return numbers;
  }
}
