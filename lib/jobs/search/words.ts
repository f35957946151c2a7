/** Longer words are cut: a text such as base64 is none that is searched for. */
const LONGEST = 40;
/** Longer names are cut before their parts are found. */
const LONGEST_NAME = 200;
/** Characters of a part of a text that V8 does not copy. */
const SHORTEST_SLICE = 13;
/** Characters of a text that are read. */
const MOST_CHARACTERS = 200_000;
const WORD = /[\p{L}\p{N}]+/gu;
/** Where a part of a name in camel case begins. */
const PART = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u;

/** Most words of a code occur in others: their forms are kept. */
const MOST_KEPT = 20_000;
const kept = new Map<string, readonly string[]>();

/** The words of a text, without case and accents; of a name such as `FourierSeries` also `series`. */
export function wordsOf(text: string, into: Set<string> = new Set<string>()): Set<string> {
  const read = text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text;
  for (const word of new Set(read.match(WORD)))
    for (const form of formsOf(word.slice(0, LONGEST_NAME))) into.add(form);
  return into;
}

function formsOf(found: string): readonly string[] {
  const known = kept.get(found);
  if (known) return known;
  if (kept.size >= MOST_KEPT) kept.clear();
  const word = copied(found);
  const forms = [copied(folded(word))];
  let rest = word.length;
  for (const part of word.split(PART).toReversed().slice(0, -1)) {
    rest -= part.length;
    forms.push(copied(folded(word.slice(rest))));
  }
  kept.set(word, forms);
  return forms;
}

/** A part of a text that does not keep the whole text in memory, as V8's longer parts do. */
function copied(part: string): string {
  return part.length < SHORTEST_SLICE ? part : Buffer.from(part, 'utf16le').toString('utf16le');
}

/** A word without case and accents. */
export function folded(word: string): string {
  const lower = word.slice(0, LONGEST).toLowerCase();
  // Most words need no normalization, which takes longer than all the rest.
  if (/^[\0-\x7f]*$/.test(lower)) return lower;
  return lower.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss').slice(0, LONGEST);
}

/** The words of a query, each of which begins a word that is looked for. */
export function queryWords(text: string): string[] {
  return [...new Set((text.match(WORD) ?? []).map(folded))];
}
