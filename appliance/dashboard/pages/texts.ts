import { notFound } from '@hapi/boom';
import { html, isShort, longText, type Value } from '../html.ts';
import { texts } from '../language/texts.ts';
import { BASE, type Route, type Visit } from '../route.ts';

/**
 * A text in a box. It is cut where it is too long for a page; `whole`: the path, below {@link BASE}, of a {@link textRoute}
 * that has all of it.
 */
export function textBox(
  text: string,
  { whole, mostBytes }: { whole?: string; mostBytes?: number } = {},
): Value {
  const box = html`<pre class="wrap" tabindex="0">${longText(text, mostBytes)}</pre>`;
  if (whole === undefined || isShort(text, mostBytes)) return box;
  return [
    box,
    html`<p class="small muted">${texts().common.onlyTheBeginning} <a href="${BASE}${whole}">${texts().common.downloadAll}</a></p>`,
  ];
}

/** A text as a file to download. `read`: null if there is none. */
export function textRoute(
  path: string,
  fileName: string,
  read: (visit: Visit) => Promise<string | null>,
): Route {
  return {
    method: 'GET',
    path,
    for: 'members',
    async handler(visit) {
      const text = await read(visit);
      if (text === null) throw notFound(texts().errors.textIsForgotten);
      const response = visit.h
        .response(text)
        .type('text/plain')
        .header('Content-Disposition', `attachment; filename="${fileName}"`);
      return { response };
    },
  };
}
