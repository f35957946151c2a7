import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';
import t from 'tap';
import { testFolder } from '../../fixtures/test-folder.ts';

const LIB = join(import.meta.dirname, '../../../lib');
const MOST_MS = 5;

/** The sources of the module and of what it imports, by their paths in `lib/`, and the other modules. */
function imported(path: string, found = new Map<string, string>(), others = new Set<string>()) {
  const source = readFileSync(join(LIB, path), 'utf8');
  found.set(path, source);
  for (const [, name = 'import()'] of source.matchAll(/ from '(.+?)'|import\(/g)) {
    const file = relative(LIB, join(LIB, dirname(path), name));
    if (!name.startsWith('.')) others.add(name);
    else if (!found.has(file)) imported(file, found, others);
  }
  return { found, others };
}

const { found, others } = imported('webhooks/signature.ts');

t.test('scenepress/webhooks imports only node:crypto and the check of options', async (t) => {
  t.same([...found.keys()], ['webhooks/signature.ts', 'base/known-options.ts', 'base/errors.ts']);
  t.same([...others], ['node:crypto']);
});

t.test(`importing it takes less than ${MOST_MS} ms`, async (t) => {
  // Stripping types takes longer than the import of the published file.
  const folder = testFolder(t, { base: {}, webhooks: {} });
  for (const [path, source] of found) {
    const published = stripTypeScriptTypes(source).replaceAll(/( from '\..*)\.ts'/g, "$1.mjs'");
    writeFileSync(join(folder, path.replace('.ts', '.mjs')), published);
  }
  const program = `await import('node:crypto'); const before = performance.now();
    await import(${JSON.stringify(join(folder, 'webhooks/signature.mjs'))}); console.log(performance.now() - before);`;
  const { NODE_OPTIONS: _, ...env } = process.env;
  const measure = () =>
    Number(execFileSync(process.execPath, ['--input-type=module', '--eval', program], { env }));
  // Other processes only make it slower.
  t.ok(Math.min(...Array.from({ length: 5 }, measure)) < MOST_MS);
});
