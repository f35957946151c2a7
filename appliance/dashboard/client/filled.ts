import type { playground } from '../language/en/playground.ts';

export type PlaygroundTexts = (typeof playground)['script'];

/** A text with values for the names in braces. */
export function filled(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}
