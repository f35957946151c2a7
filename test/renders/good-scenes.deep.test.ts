import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { LocalRenderer } from '../../lib/index.ts';

const LAYOUTS = join(import.meta.dirname, '../fixtures/layouts');

const renderer = new LocalRenderer({ folder: await mkdtemp(join(tmpdir(), 'scenepress-')), workers: 2 });
t.before(() => renderer.start());
t.teardown(() => renderer.stop());

t.test('in scenes that render, nothing is found', { timeout: 300_000 }, async (t) => {
  const files = (await readdir(LAYOUTS, { recursive: true })).filter((name) => name.endsWith('.py'));
  let scenes = 0;
  const left = files.values();
  const checkNext = async () => {
    for (const name of left) {
      const found = await renderer.check(await readFile(join(LAYOUTS, name), 'utf8'), { quality: 'low' });
      scenes += found.scenes.length;
      t.same(found.findings, [], name);
      const code = await readFile(join(LAYOUTS, name), 'utf8');
      t.same((await renderer.check(code, { dryRun: false })).findings, [], `${name}, only read`);
      t.ok(
        found.scenes.every(({ seconds }) => seconds > 0),
        name,
      );
    }
  };
  await Promise.all([checkNext(), checkNext()]);
  t.ok(scenes > 150, `${scenes} scenes`);
});
