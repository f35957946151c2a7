import { posix } from 'node:path';

const CODE_BLOCK = /(^[ \t]*```.*?^[ \t]*```)/ms;
const IMAGES = /!\[[^\]]*\]\([^)]*\)\n*|<p>\s*(?:<img\b[^>]*>\s*)+<\/p>\n*/g;
/** The text of a link may contain code with brackets, and may go on in the next line. */
const LINK = /\[((?:`[^`]*`|[^[\]`])*)\]\(([^)\s]+)\)/g;

/**
 * A page of the manual without pictures, and without the links to what isn't served, such as sources: their texts stay.
 * Links between pages are relative, and hold as they are.
 */
export function withServedLinks(markdown: string, path: string, isServed: (path: string) => boolean): string {
  return markdown
    .split(CODE_BLOCK)
    .map((part, index) => (index % 2 === 1 ? part : withoutOthers(part)))
    .join('');

  function withoutOthers(text: string): string {
    return text
      .replaceAll(IMAGES, '')
      .replaceAll(LINK, (link, shown: string, target: string) => (leads(target) ? link : shown));
  }

  function leads(target: string): boolean {
    const [file = ''] = target.split('#');
    const isOutside = /^[a-z][a-z+.-]*:/i.test(target);
    return isOutside || file === '' || isServed(posix.join(posix.dirname(path), file));
  }
}
