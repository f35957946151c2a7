import { layout } from './layout.ts';

/**
 * What a language file has: the keys of English, by the page or the part that shows them. A text with values in it is a
 * function, so that each language chooses its order and its plural forms.
 */
export interface Texts {
  layout: typeof layout;
}

/** The dashboard's texts in English. */
export const EN: Texts = { layout };
