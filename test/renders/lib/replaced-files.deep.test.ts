import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { noMounts } from '../../fixtures/mounts.ts';
import type { Replaced } from '../../fixtures/moving-ground-program.ts';
import { testFolder } from '../../fixtures/test-folder.ts';

const PROGRAM = join(import.meta.dirname, '../../fixtures/moving-ground-program.ts');
const REPLACEMENTS = 7;
const RENDERS = 3;

t.test('no render fails when the files of the renderer are replaced', { skip: noMounts() }, async (t) => {
  const { stdout, stderr, status } = spawnSync(
    'unshare',
    ['--mount', process.execPath, PROGRAM, testFolder(t)],
    { encoding: 'utf8' },
  );
  t.equal(status, 0, stderr);
  const replaced = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Replaced);
  t.equal(replaced.length, REPLACEMENTS * RENDERS);
  for (const { what, seconds, ...job } of replaced)
    t.same(job, { status: 'completed', attempts: 1, error: null }, `${what}, ${seconds.toFixed(1)} s`);
});
