// Writes what is exported by the package to test/checks/public-api.txt. A test fails when it is out of date, so that a
// change of the public API is a conscious one.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
export const SNAPSHOT: string = join(ROOT, 'test/checks/public-api.txt');

/** An exported name. */
export interface Declaration {
  /** Its TSDoc, as it stands in the source; empty without one. */
  comment: string;
  /** With the comments of its members. */
  text: string;
  /** The comment above the exports of its group, if the entry point has groups. */
  group?: string;
}

/** The exports by entry point, such as `scenepress/client`. */
export type Api = Map<string, { comment: string; groups: string[]; names: Map<string, Declaration> }>;

/** The public API, of declarations that the compiler makes for that. */
export function readApi(): Api {
  const out = mkdtempSync(join(tmpdir(), 'public-api-'));
  try {
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const args = [
      '-u',
      'NODE_OPTIONS',
      tsc,
      '--project',
      'tsconfig.build.json',
      '--emitDeclarationOnly',
      '--removeComments',
      'false',
    ];
    // NODE_OPTIONS loads tap, which breaks tsc.
    const { status, stdout } = spawnSync('env', [...args, '--outDir', out], { cwd: ROOT, encoding: 'utf8' });
    if (status !== 0) throw new Error(stdout);
    return apiIn(out);
  } finally {
    rmSync(out, { recursive: true });
  }
}

/** The public API, of the declarations in a folder. */
export function apiIn(folder: string): Api {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { types: string }>;
  };
  const api: Api = new Map();
  const checked = new Set<string>();
  for (const [name, target] of Object.entries(exports)) {
    if (typeof target === 'string') continue;
    const path = join(folder, target.types.replace('./dist/', ''));
    if (name !== './hapi') assertStandsAlone(path, checked); // Its types are those of hapi.
    // Comments of the source: declarations lose those of the module when it begins with an import.
    const source = readFileSync(
      join(ROOT, target.types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts')),
      'utf8',
    );
    const [comment = ''] = /^\/\*\*[\s\S]*?\*\/(?=\n+(?:import|export \{|export type \{))/.exec(source) ?? [];
    const groups = groupsIn(source);
    const names = [...declarationsOf(path)]
      .map(([name, declaration]): [string, Declaration] => [name, { ...declaration, ...groups.get(name) }])
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const titles = new Set([...groups.values()].map(({ group }) => group));
    api.set(name.replace('.', 'scenepress'), { comment, groups: [...titles], names: new Map(names) });
  }
  return api;
}

/** The groups of exported names: comments of one line above the exports. */
function groupsIn(source: string): Map<string, { group: string }> {
  const parts = source.split(/^\/\/ (.+)$/m).slice(1);
  const found = new Map<string, { group: string }>();
  for (let at = 0; at < parts.length; at += 2)
    for (const [, names = ''] of parts[at + 1]?.matchAll(/\{([^}]*)\}/g) ?? [])
      for (const name of names.split(','))
        found.set(name.trim().replace(/^type /, ''), { group: parts[at] ?? '' });
  return found;
}

const IMPORT = /(?:\bfrom |\bimport\(|^import )'([^']+)'/gm;

/**
 * Error: a declaration file, or one that it imports, imports a package or Node. Embedders may have no types for those;
 * only node-types.ts compiles without them.
 */
function assertStandsAlone(path: string, checked: Set<string>): void {
  if (checked.has(path) || path.endsWith('/node-types.d.ts')) return;
  checked.add(path);
  // Examples in comments import packages.
  for (const [, from = ''] of withoutComments(readFileSync(path, 'utf8')).matchAll(IMPORT)) {
    if (!from.startsWith('.'))
      throw new Error(`${path} imports ${from}, for which embedders may have no types`);
    assertStandsAlone(join(dirname(path), from.replace(/\.ts$/, '.d.ts')), checked);
  }
}

/** The public API as text, without comments. */
export function publicApi(api: Api): string {
  const sections = [...api].map(([entry, { names }]) => {
    const lines = [...names.values()].map(({ text }) => withoutComments(text));
    return `# ${entry}\n\n${lines.join('\n')}\n`;
  });
  return sections.join('\n');
}

const REEXPORT = /^export (?:type )?\{([^}]*)\} from '([^']+)';/gm;
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:class|interface|type|const|function\*?|enum) (\w+)/gm;

/** The declarations that a module exports, by name. */
function declarationsOf(path: string): Map<string, Declaration> {
  const text = readFileSync(path, 'utf8');
  const declared = new Map<string, Declaration>();
  for (const { index, 1: name = '' } of text.matchAll(DECLARATION)) {
    const overloads = declared.get(name);
    const own = declarationAt(text, index);
    const found = { comment: commentBefore(text, index), text: withInherited(own, text, path) };
    declared.set(name, overloads ? { ...overloads, text: `${overloads.text}\n${found.text}` } : found);
  }
  for (const [, names = '', from = ''] of text.matchAll(REEXPORT)) {
    if (!from.startsWith('.')) continue;
    const there = declarationsOf(join(dirname(path), from.replace(/\.ts$/, '.d.ts')));
    for (const part of names.split(',').map((part) => part.trim().replace(/^type /, ''))) {
      if (part === '') continue;
      const [name = '', alias = name] = part.split(' as ');
      declared.set(alias, there.get(name) ?? { comment: '', text: `export ${name} // not found in ${from}` });
    }
  }
  return declared;
}

const BASE = /^export (?:declare )?class \w+ extends (\w+)\b/;

/** A class with the members of its abstract base, which is not exported itself, in the place of that. */
function withInherited(text: string, module: string, path: string): string {
  const base = BASE.exec(text)?.[1];
  const from = new RegExp(`^import \\{[^}]*\\b${base}\\b[^}]*\\} from '(\\.[^']+)'`, 'm').exec(module)?.[1];
  if (base === undefined || from === undefined) return text;
  const inherited = declarationsOf(join(dirname(path), from.replace(/\.ts$/, '.d.ts'))).get(base)?.text ?? '';
  const [, above = '', members = ''] =
    /^export declare abstract class \w+([^{]*)\{\n([\s\S]*)\}$/.exec(inherited) ?? [];
  if (members === '') return text;
  const isOwn = (line: string) => !/^\s*#private;$/.test(line);
  const kept = members.split('\n').filter(isOwn).join('\n');
  return text.replace(new RegExp(` extends ${base}[^{]*`), () => above).replace(/\}$/, () => `${kept}}`);
}

/** The TSDoc that ends before a declaration. */
function commentBefore(text: string, end: number): string {
  const before = text.slice(0, end).trimEnd();
  return before.endsWith('*/') ? before.slice(before.lastIndexOf('/**')) : '';
}

/** Up to the `;` or the closing brace at the end of its lines. */
function declarationAt(text: string, start: number): string {
  const isAlias = /^export (?:declare )?type /.test(text.slice(start, start + 20));
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text.startsWith('/*', at)) at = text.indexOf('*/', at) + 2;
    const character = text[at] ?? '';
    if ('{(['.includes(character)) depth++;
    if ('})]'.includes(character)) depth--;
    const isEnd = character === ';' || (!isAlias && character === '}' && text[at + 1] === '\n');
    if (depth === 0 && isEnd) return text.slice(start, at + 1);
  }
  return text.slice(start).trimEnd();
}

function withoutComments(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n{2,}/g, '\n');
}

if (import.meta.main) writeFileSync(SNAPSHOT, publicApi(readApi()));
