/** Lines of two texts that are equal, or of one of them only. Indexes count from 0. */
export interface Run {
  kind: 'equal' | 'removed' | 'added';
  /** The first line, in the text before; of an added run, the line that it stands before. */
  before: number;
  /** The same in the text after. */
  after: number;
  count: number;
}

/** Steps that a comparison may take; what is not compared by then counts as replaced. */
const MOST_STEPS = 3_000_000;
/** Pairs of lines that are compared one with each other, between lines that occur once. */
const MOST_PAIRS = 250_000;

type Range = readonly [beforeFrom: number, beforeTo: number, afterFrom: number, afterTo: number];
type Match = [before: number, after: number, count: number];

/**
 * How one text became another, as runs of lines in their order, the removed ones first. Lines that occur once in both are
 * compared first, so that a moved function does not match the braces of another (patience diff). Takes bounded time for
 * any texts.
 */
export function lineDiff(before: readonly string[], after: readonly string[]): Run[] {
  const matches = new Comparison(before, after).matches();
  const runs: Run[] = [];
  let [beforeAt, afterAt] = [0, 0];
  for (const [atBefore, atAfter, count] of [...matches, [before.length, after.length, 0] as Match]) {
    const [removed, added] = [atBefore - beforeAt, atAfter - afterAt];
    if (removed > 0) runs.push({ kind: 'removed', before: beforeAt, after: afterAt, count: removed });
    if (added > 0) runs.push({ kind: 'added', before: atBefore, after: afterAt, count: added });
    if (count > 0) runs.push({ kind: 'equal', before: atBefore, after: atAfter, count });
    [beforeAt, afterAt] = [atBefore + count, atAfter + count];
  }
  return runs;
}

class Comparison {
  readonly #before: Int32Array;
  readonly #after: Int32Array;
  readonly #found: Match[] = [];
  #steps = MOST_STEPS;

  constructor(before: readonly string[], after: readonly string[]) {
    const numbers = new Map<string, number>();
    const numberOf = (line: string) => {
      const number = numbers.get(line) ?? numbers.size;
      numbers.set(line, number);
      return number;
    };
    this.#before = Int32Array.from(before, numberOf);
    this.#after = Int32Array.from(after, numberOf);
  }

  /** Runs of equal lines, as long as possible, in their order. */
  matches(): Match[] {
    const ranges: Range[] = [[0, this.#before.length, 0, this.#after.length]];
    for (let range = ranges.pop(); range; range = ranges.pop()) ranges.push(...this.#compare(range));
    const ordered = this.#found.toSorted(([one], [other]) => one - other);
    const joined: Match[] = [];
    for (const [before, after, count] of ordered) {
      const last = joined.at(-1);
      if (last && last[0] + last[2] === before && last[1] + last[2] === after) last[2] += count;
      else joined.push([before, after, count]);
    }
    return joined;
  }

  /** Finds what is equal at both ends of a range; returns what is still to be compared between them. */
  #compare([beforeFrom, beforeTo, afterFrom, afterTo]: Range): Range[] {
    const [before, after] = [this.#before, this.#after];
    const most = Math.min(beforeTo - beforeFrom, afterTo - afterFrom);
    let start = 0;
    while (start < most && before[beforeFrom + start] === after[afterFrom + start]) start += 1;
    let end = 0;
    while (end < most - start && before[beforeTo - 1 - end] === after[afterTo - 1 - end]) end += 1;
    if (start > 0) this.#found.push([beforeFrom, afterFrom, start]);
    if (end > 0) this.#found.push([beforeTo - end, afterTo - end, end]);
    const rest: Range = [beforeFrom + start, beforeTo - end, afterFrom + start, afterTo - end];
    const [rows, columns] = [rest[1] - rest[0], rest[3] - rest[2]];
    this.#steps -= start + end + rows + columns;
    if (rows === 0 || columns === 0 || this.#steps < 0) return [];
    const anchors = this.#anchors(rest);
    if (anchors.length > 0) return between(rest, anchors);
    if (rows * columns <= MOST_PAIRS && rows * columns <= this.#steps) this.#pair(rest);
    return [];
  }

  /** Pairs of lines that occur once in both parts of a range; the most that are in the same order. */
  #anchors([beforeFrom, beforeTo, afterFrom, afterTo]: Range): [number, number][] {
    const places = placesOf(this.#after, afterFrom, afterTo);
    const own = placesOf(this.#before, beforeFrom, beforeTo);
    const pairs: [number, number][] = [];
    for (let at = beforeFrom; at < beforeTo; at += 1) {
      const line = this.#before[at] as number;
      const place = places.get(line);
      if (own.get(line) === at && place !== undefined && place >= 0) pairs.push([at, place]);
    }
    return ascending(pairs);
  }

  /** Compares each line with each other: the longest common subsequence. */
  #pair([beforeFrom, beforeTo, afterFrom, afterTo]: Range): void {
    const [rows, columns] = [beforeTo - beforeFrom, afterTo - afterFrom];
    this.#steps -= rows * columns;
    const width = columns + 1;
    /** The length for what follows each pair of lines. */
    const lengths = new Int32Array((rows + 1) * width);
    const isEqual = (row: number, column: number) =>
      this.#before[beforeFrom + row] === this.#after[afterFrom + column];
    for (let row = rows - 1; row >= 0; row -= 1)
      for (let column = columns - 1; column >= 0; column -= 1) {
        const at = row * width + column;
        lengths[at] = isEqual(row, column)
          ? (lengths[at + width + 1] as number) + 1
          : Math.max(lengths[at + width] as number, lengths[at + 1] as number);
      }
    for (let [row, column] = [0, 0]; row < rows && column < columns; ) {
      const at = row * width + column;
      if (isEqual(row, column)) {
        this.#found.push([beforeFrom + row, afterFrom + column, 1]);
        row += 1;
        column += 1;
      } else if ((lengths[at + width] as number) >= (lengths[at + 1] as number)) row += 1;
      else column += 1;
    }
  }
}

/** Where each line of a part is; negative for one that occurs more than once. */
function placesOf(lines: Int32Array, from: number, to: number): Map<number, number> {
  const places = new Map<number, number>();
  for (let at = from; at < to; at += 1) {
    const line = lines[at] as number;
    places.set(line, places.has(line) ? -1 : at);
  }
  return places;
}

/** The ranges around and between anchors, each of which is at the beginning of one. */
function between([beforeFrom, beforeTo, afterFrom, afterTo]: Range, anchors: [number, number][]): Range[] {
  const starts: [number, number][] = [[beforeFrom, afterFrom], ...anchors];
  return starts.map(([before, after], index): Range => {
    const [nextBefore, nextAfter] = anchors[index] ?? [beforeTo, afterTo];
    return [before, nextBefore, after, nextAfter];
  });
}

/** The longest ascending subsequence of the second members of pairs, whose first members ascend. */
function ascending(pairs: [number, number][]): [number, number][] {
  /** Of the subsequences of each length, the index of the smallest last pair. */
  const lasts: number[] = [];
  const previous: number[] = [];
  for (const [index, [, after]] of pairs.entries()) {
    let [low, high] = [0, lasts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[lasts[middle] as number] as [number, number])[1] < after) low = middle + 1;
      else high = middle;
    }
    previous[index] = lasts[low - 1] ?? -1;
    lasts[low] = index;
  }
  const chosen: [number, number][] = [];
  for (let index = lasts.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1)
    chosen.push(pairs[index] as [number, number]);
  return chosen.reverse();
}
