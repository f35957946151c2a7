import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import { testFolder } from '../../fixtures/test-folder.ts';

const MODULE = join(import.meta.dirname, '../../../lib/webhooks/signature.ts');
const MOST_MS = 5;

t.test('the module of scenepress/webhooks imports only node:crypto', async (t) => {
  const imports = readFileSync(MODULE, 'utf8').matchAll(/ from '(.+?)'|import\(/g);
  t.same(
    [...imports].map(([, name]) => name),
    ['node:crypto'],
  );
});

t.test(`importing it takes less than ${MOST_MS} ms`, async (t) => {
  // Stripping types takes longer than the import of the published file.
  const folder = testFolder(t, { 'webhooks.mjs': stripTypeScriptTypes(readFileSync(MODULE, 'utf8')) });
  const program = `await import('node:crypto'); const before = performance.now();
    await import(${JSON.stringify(join(folder, 'webhooks.mjs'))}); console.log(performance.now() - before);`;
  const { NODE_OPTIONS: _, ...env } = process.env;
  const measure = () =>
    Number(execFileSync(process.execPath, ['--input-type=module', '--eval', program], { env }));
  // Other processes only make it slower.
  t.ok(Math.min(...Array.from({ length: 5 }, measure)) < MOST_MS);
});
