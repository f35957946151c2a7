import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const LIB = join(import.meta.dirname, '../../../lib');

function importOn(version: string) {
  const program = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
    await import(${JSON.stringify(join(LIB, 'index.ts'))});`;
  const { NODE_OPTIONS: _, ...env } = process.env;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', program], { env, encoding: 'utf8' });
}

t.test('an import on an old Node fails with a sentence', async (t) => {
  for (const version of ['20.20.2', '22.15.1'])
    t.match(
      importOn(version).stderr,
      `scenepress needs Node 22.16 or newer (22, 24 and 26 are tested); this is Node ${version}.`,
    );
  for (const version of ['22.16.0', '24.0.0', '26.1.0']) t.equal(importOn(version).status, 0, version);
});

t.test('no module needs node:sqlite before the version is checked', async (t) => {
  for (const file of readdirSync(LIB, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.ts'))
      t.notMatch(readFileSync(join(LIB, file), 'utf8'), /^(im|ex)port (?!type).*'node:sqlite'/m, file);
});
