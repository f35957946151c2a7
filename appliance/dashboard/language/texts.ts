import { AsyncLocalStorage } from 'node:async_hooks';
import type { Request } from '@hapi/hapi';
import { DE } from './de/index.ts';
import { EN, type Texts } from './en/index.ts';

/** The languages of the dashboard, by their codes (BCP 47). */
export const LANGUAGES: { readonly en: Texts; readonly de: Texts } = { en: EN, de: DE };
export type Language = keyof typeof LANGUAGES;

/** The cookie of a language that a person has chosen. */
export const LANGUAGE_COOKIE = 'scenepress_language';

const DEFAULT: Language = 'en';
const current = new AsyncLocalStorage<Language>();

/** The language of the request that is being answered. */
export function language(): Language {
  return current.getStore() ?? DEFAULT;
}

/** The texts in the language of the request that is being answered. */
export function texts(): Texts {
  return LANGUAGES[language()];
}

/** Answers a request in a language. */
export function inLanguage<T>(chosen: Language, answer: () => T): T {
  return current.run(chosen, answer);
}

/** The language that was chosen, or else the first of the browser's languages that there is. */
export function languageOf({ state, headers }: Pick<Request, 'state' | 'headers'>): Language {
  const chosen: unknown = state?.[LANGUAGE_COOKIE];
  if (isLanguage(chosen)) return chosen;
  return preferred(String(headers['accept-language'] ?? '')) ?? DEFAULT;
}

export function isLanguage(code: unknown): code is Language {
  return typeof code === 'string' && Object.hasOwn(LANGUAGES, code);
}

/** As of RFC 9110, section 12.5.4; of `de-AT`, `de` is taken. */
function preferred(header: string): Language | undefined {
  const wanted = header
    .split(',')
    .map((part) => /^\s*([a-z]{1,8})(?:-[a-z0-9-]*)?\s*(?:;\s*q\s*=\s*([\d.]+)\s*)?$/i.exec(part))
    .filter((match) => match !== null)
    .map(([, code = '', weight = '1']) => ({ code: code.toLowerCase(), weight: Number(weight) }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  return wanted.map(({ code }) => code).find(isLanguage);
}
