import { readFileSync } from 'node:fs';
import t from 'tap';
import { publicApi, SNAPSHOT } from '../../scripts/public-api.ts';

t.test('the public API is as recorded in public-api.txt', async (t) => {
  const lines = publicApi().split('\n');
  const recorded = readFileSync(SNAPSHOT, 'utf8').split('\n');
  t.notOk(lines.some((line) => line.includes('// not found')));
  t.same(
    lines.filter((line) => !recorded.includes(line)),
    [],
    'nothing new: record it with `node scripts/public-api.ts`, and describe it in CHANGELOG.md',
  );
  t.same(
    recorded.filter((line) => !lines.includes(line)),
    [],
    'nothing missing: that would break embedders',
  );
  t.same(lines, recorded);
});
