import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generated, protocol } from '../../scripts/protocol.ts';

const ROOT = join(import.meta.dirname, '../..');

t.test('the types are those of protocol.json; else run: node scripts/protocol.ts', async (t) => {
  for (const [path, text] of Object.entries(generated(protocol()))) {
    t.equal(readFileSync(join(ROOT, path), 'utf8'), text, path);
  }
});
