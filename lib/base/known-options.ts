import { ScenepressError } from './errors.ts';

/** The names of all options: the compiler reports one that is missing, and one that does not exist. */
export type Names<Options> = Record<Options extends unknown ? keyof Options : never, unknown>;

/** Names of {@link known}, for calls that take only a signal. */
export const SIGNAL: Names<{ signal?: AbortSignal }> = { signal: true };

/** Longer names are cut: they may come from a request. */
const LONGEST_NAME_SHOWN = 80;

/**
 * Returns options that were given. Error: `invalid_request`, with the nearest name, when one of them does not exist: a
 * misspelled option would otherwise have no effect, and its default would apply. An instance of a class may have more
 * than the options: a data folder can be given where its stores are.
 *
 * Imports no Node modules, because clients in browsers use it.
 *
 * @param taker what takes the options, for the error
 */
export function known<Options extends object>(
  taker: string,
  given: Options,
  names: Names<NoInfer<Options>>,
): Options {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid(`${taker} takes its options as an object: { ${Object.keys(names).join(', ')} }.`);
  const prototype = Object.getPrototypeOf(given);
  if (prototype !== Object.prototype && prototype !== null) return given;
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(names, name)) throw unknownOption(taker, name, Object.keys(names));
  }
  return given;
}

/** The error for an option that does not exist. */
export function unknownOption(taker: string, name: string, names: readonly string[]): ScenepressError {
  const nearest = nearestOf(name, names);
  const advice = nearest === undefined ? `It has ${names.join(', ')}.` : `Did you mean \`${nearest}\`?`;
  return invalid(`${taker} has no option \`${name.slice(0, LONGEST_NAME_SHOWN)}\`. ${advice}`);
}

/** The name that another one is most probably a misspelling of; undefined if none is near. */
export function nearestOf(name: string, names: readonly string[]): string | undefined {
  const written = name.slice(0, LONGEST_NAME_SHOWN).toLowerCase();
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of names) {
    const distance = editDistance(written, candidate.toLowerCase());
    const most = Math.max(1, Math.floor(candidate.length / 3));
    if (distance > most || distance >= least) continue;
    [nearest, least] = [candidate, distance];
  }
  return nearest;
}

/** The least number of letters to insert, remove, replace, or swap with their neighbour. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const [removed = 0, inserted = 0, replaced = 0] = [last[j], row[j - 1], last[j - 1]];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(removed + 1, inserted + 1, replaced + (isSame ? 0 : 1), swapped));
    }
    [before, last] = [last, row];
  }
  return last[to.length] ?? 0;
}

function invalid(message: string): ScenepressError {
  return new ScenepressError('invalid_request', message);
}
