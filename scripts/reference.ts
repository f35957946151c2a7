import { join } from 'node:path';
import type { Api, Declaration } from './public-api.ts';

const FOLDER = join(import.meta.dirname, '../lib/reference');
const KINDS = [
  { title: 'Classes', kind: /^export (?:declare )?(?:abstract )?class / },
  { title: 'Functions', kind: /^export (?:declare )?(?:async )?function/ },
  { title: 'Constants', kind: /^export (?:declare )?const / },
  { title: 'Types', kind: /^export (?:declare )?(?:interface|type|enum) / },
];

/** The pages of the reference: their text by path. One for each entry point of the package. */
export function reference(api: Api): Record<string, string> {
  const pages = [...api].map(([entry, { comment, names }]): [string, string] => {
    const linked = (text: string) => withLinks(text, entry, api);
    const sections = KINDS.flatMap(({ title, kind }) => {
      const found = [...names].filter(([, { text }]) => kind.test(text));
      if (found.length === 0) return [];
      return [`## ${title}`, ...found.map(([name, declaration]) => sectionOf(name, declaration, linked))];
    });
    const head = `# ${entry}\n\n<!-- made by scripts/public-api.ts -->\n\n${linked(textOf(comment))}`;
    return [pathOf(entry), `${[head, ...sections].join('\n\n')}\n`];
  });
  return Object.fromEntries(pages);
}

const fileOf = (entry: string) => `${entry.replace('/', '-')}.md`;
const pathOf = (entry: string) => join(FOLDER, fileOf(entry));

function sectionOf(name: string, { comment, text }: Declaration, linked: (text: string) => string): string {
  const shown = text
    .replaceAll(/^export (declare )?/gm, '')
    .replaceAll(/^\s*(#private|private .*);\n/gm, '')
    .replaceAll(/\{@link (?:\w+\.)?(\w+)\}/g, '`$1`')
    .trimEnd();
  const parts = [`### ${name}`, linked(textOf(comment)), `\`\`\`ts\n${shown}\n\`\`\``];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** The text of a comment, without its marks and tags. */
function textOf(comment: string): string {
  return comment
    .replace(/^\/\*\*/, '')
    .replace(/\*\/$/, '')
    .replaceAll(/^[ \t]*\* ?/gm, '')
    .replaceAll(/^@param (\w+) /gm, '- `$1`: ')
    .trim();
}

/** Links names to their sections, on this page or on that of another entry point. */
function withLinks(text: string, entry: string, api: Api): string {
  return text.replaceAll(/\{@link ([\w.]+)\}/g, (_, target: string) => {
    const [name = ''] = target.split('.');
    const pages = [entry, ...api.keys()];
    const page = pages.find((each) => api.get(each)?.names.has(name));
    if (page === undefined) return `\`${target}\``;
    return `[\`${target}\`](${page === entry ? '' : fileOf(page)}#${name.toLowerCase()})`;
  });
}
