// Writes the reference of the package, from the declarations of a build in `dist`: `npm pack` puts it into the package.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, apiIn, type Declaration } from './public-api.ts';

const ROOT = join(import.meta.dirname, '..');
const KINDS = [
  { title: 'Classes', kind: /^export (?:declare )?(?:abstract )?class / },
  { title: 'Functions', kind: /^export (?:declare )?(?:async )?function/ },
  { title: 'Constants', kind: /^export (?:declare )?const / },
  { title: 'Types', kind: /^export (?:declare )?(?:interface|type|enum) / },
];

/** The pages of the reference: their text by the name of the file. One for each entry point of the package. */
export function reference(api: Api): Record<string, string> {
  const pages = [...api].map(([entry, { comment, groups, names }]): [string, string] => {
    const linked = (text: string) => withLinks(text, entry, api);
    const sections = sectionsOf([...names], groups).flatMap(({ title, found }) => [
      `## ${title}`,
      ...found.map(([name, declaration]) => sectionOf(name, declaration, linked)),
    ]);
    const head = `# ${entry}\n\n${linked(textOf(comment))}`;
    return [fileOf(entry), `${[head, ...sections].join('\n\n')}\n`];
  });
  return Object.fromEntries(pages);
}

type Named = [name: string, declaration: Declaration];

/** By the groups of the entry point, in which classes and functions are first; by kinds if it has none. */
function sectionsOf(names: Named[], groups: string[]): { title: string; found: Named[] }[] {
  const kinds = KINDS.map(({ title, kind }) => ({
    title,
    found: names.filter(([, { text }]) => kind.test(text)),
  }));
  const sorted = kinds.flatMap(({ found }) => found);
  const sections = groups.map((title) => ({
    title,
    found: sorted.filter(([, { group }]) => group === title),
  }));
  const isGrouped = names.every(([, { group }]) => group !== undefined);
  return (isGrouped ? sections : kinds).filter(({ found }) => found.length > 0);
}

const fileOf = (entry: string) => `${entry.replace('/', '-')}.md`;

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

/** Writes the pages into an empty folder. */
export function writeReference(folder: string, api: Api): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(reference(api))) writeFileSync(join(folder, name), text);
}

if (import.meta.main) writeReference(join(ROOT, 'lib/reference'), apiIn(join(ROOT, 'dist')));
