// All pages in German: a text that is not in a language file would be English in them.
import t from 'tap';
import { DE } from '../../appliance/dashboard/language/de/index.ts';
import { EN } from '../../appliance/dashboard/language/en/index.ts';
import { leavesOf, SAMPLE, sampleOf } from './catalogue.ts';
import { Client } from './client.ts';
import { filledAppliance } from './filled-appliance.ts';

/** What a text has around its values, if that is more than a word. */
function piecesOf(texts: object): string[] {
  return leavesOf(texts)
    .flatMap(([, text]) => sampleOf(text).split(new RegExp(`${SAMPLE}|NaN|\\{\\w+\\}|\`[^\`]*\``)))
    .map((piece) => piece.trim().replace(/^[,;.:?]+ ?|[,;.:?]+$/g, ''))
    .filter((piece) => (piece.match(/\p{L}{2,}/gu) ?? []).length > 1);
}

const german = new Set(piecesOf(DE));
const english = [...new Set(piecesOf(EN))].filter((piece) => !german.has(piece));

/** What people read of a page, and what its scripts show. */
function readIn(page: string): string {
  const attributes = [...page.matchAll(/ (?:title|alt|aria-label|placeholder|data-label)="([^"]*)"/g)];
  return [page.replace(/<[^>]*>/g, '\n'), ...attributes.map(([, text]) => text)]
    .join('\n')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

t.test('no page that is asked for in German has an English text', async (t) => {
  const { port, admin, paths } = await filledAppliance(t);
  const client = new Client(port);
  await client.signIn(admin);
  const seen = async (path: string) => {
    const { text } = await client.get(`/dashboard${path}`);
    const read = readIn(text);
    return { text, found: english.filter((piece) => read.includes(piece)) };
  };
  t.ok((await seen('')).found.length > 10, 'they are found in English pages');
  client.headers['accept-language'] = 'de';
  for (const path of paths) {
    const { text, found } = await seen(path);
    t.match(text, '<html lang="de"', path);
    t.same(found, [], path);
  }
  const stranger = new Client(port);
  stranger.headers['accept-language'] = 'de';
  for (const path of ['/sign-in', '/sign-in?ended=form', '/set-up?token=wrong']) {
    const read = readIn((await stranger.get(`/dashboard${path}`)).text);
    t.same(
      english.filter((piece) => read.includes(piece)),
      [],
      path,
    );
  }
});
