import type { PlaygroundTexts } from './filled.ts';

/** What the page says in its language, for its scripts. */
export function textsOfPage<T>(): T {
  return JSON.parse(document.getElementById('texts')?.textContent ?? '{}') as T;
}

let read: PlaygroundTexts | undefined;

/** The texts of the script of the playground. */
export function texts(): PlaygroundTexts {
  read ??= textsOfPage<PlaygroundTexts>();
  return read;
}
