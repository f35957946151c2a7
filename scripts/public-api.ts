// Writes test/checks/public-api.txt: every exported name of the package with its declaration, without comments. The test
// beside it fails when the file is out of date, so that a change of the public API is a conscious one.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
export const SNAPSHOT: string = join(ROOT, 'test/checks/public-api.txt');

/** The public API as text. */
export function publicApi(): string {
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
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      exports: Record<string, string | { types: string }>;
    };
    const sections = Object.entries(exports).flatMap(([name, target]) => {
      if (typeof target === 'string') return [];
      const declared = declarationsOf(join(out, target.types.replace('./dist/', '')));
      const lines = [...declared].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
      return [`# ${name.replace('.', 'scenepress')}\n\n${lines.join('\n')}\n`];
    });
    return sections.join('\n');
  } finally {
    rmSync(out, { recursive: true });
  }
}

const REEXPORT = /^export (?:type )?\{([^}]*)\} from '([^']+)';/gm;
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:class|interface|type|const|function\*?|enum) (\w+)/gm;

/** The declarations that a module exports, by name. */
function declarationsOf(path: string): Map<string, string> {
  const text = withoutComments(readFileSync(path, 'utf8'));
  const declared = new Map<string, string>();
  for (const { index, 1: name = '' } of text.matchAll(DECLARATION)) {
    const overloads = declared.get(name);
    const found = declarationAt(text, index);
    declared.set(name, overloads ? `${overloads}\n${found}` : found);
  }
  for (const [, names = '', from = ''] of text.matchAll(REEXPORT)) {
    if (!from.startsWith('.')) continue;
    const there = declarationsOf(join(dirname(path), from.replace(/\.ts$/, '.d.ts')));
    for (const part of names.split(',').map((part) => part.trim().replace(/^type /, ''))) {
      if (part === '') continue;
      const [name = '', alias = name] = part.split(' as ');
      declared.set(alias, there.get(name) ?? `export ${name} // not found in ${from}`);
    }
  }
  return declared;
}

/** Up to the `;` or the closing brace at the end of its lines. */
function declarationAt(text: string, start: number): string {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? '';
    if ('{(['.includes(character)) depth++;
    if ('})]'.includes(character)) depth--;
    const isEnd = character === ';' || (character === '}' && /^\n(?! )/.test(text.slice(at + 1, at + 3)));
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

if (import.meta.main) writeFileSync(SNAPSHOT, publicApi());
