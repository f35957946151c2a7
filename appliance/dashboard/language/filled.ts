import { html, type Value } from '../html.ts';

/** Names in braces, and code between backticks. */
const MARKED = /(\{\w+\}|`[^`]*`)/;

/** A text with markup: the names in braces stand for values, and what is between backticks is code. */
export function filled(text: string, values: Readonly<Record<string, Value>> = {}): Value[] {
  return text.split(MARKED).map((piece, index) => {
    if (index % 2 === 0) return piece;
    const inner = piece.slice(1, -1);
    return piece.startsWith('`') ? html`<code>${inner}</code>` : values[inner];
  });
}
