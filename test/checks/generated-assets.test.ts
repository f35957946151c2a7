import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generated } from '../../scripts/dashboard-assets.ts';

const ROOT = join(import.meta.dirname, '../..');

t.test('the generated assets are current; else run: node scripts/dashboard-assets.ts', async (t) => {
  for (const [path, text] of Object.entries(generated())) {
    t.ok(readFileSync(join(ROOT, path), 'utf8') === text, path);
  }
});
