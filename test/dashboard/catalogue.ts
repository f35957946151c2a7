/** What the values of functions are in samples. */
export const SAMPLE = '\u0001';

type Leaf = [key: string, text: unknown];

/** The texts of a language by their keys, such as `job.states.queued`: strings and functions. */
export function leavesOf(texts: object, path = ''): Leaf[] {
  return Object.entries(texts).flatMap(([name, value]: [string, unknown]): Leaf[] =>
    typeof value === 'object' && value !== null
      ? leavesOf(value, `${path}${name}.`)
      : [[`${path}${name}`, value]],
  );
}

/** A text, or the one that a function makes of samples. */
export function sampleOf(text: unknown): string {
  if (typeof text !== 'function') return String(text);
  try {
    return String(text(...Array.from({ length: text.length }, () => SAMPLE)));
  } catch {
    // It writes numbers or times, not words.
    return '';
  }
}
