// Runs the renderer's tests with pytest and reports each of them as an assertion.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { testFolder } from '../fixtures/test-folder.ts';

const root = join(import.meta.dirname, '../..');

t.test('the Python tests pass', async (t) => {
  const report = join(testFolder(t), 'report.xml');
  const { status, stdout, stderr, error } = spawnSync(
    join(root, '.venv/bin/python'),
    ['-m', 'pytest', '--quiet', '--color=no', `--junitxml=${report}`],
    { cwd: join(root, 'renderer'), encoding: 'utf8' },
  );
  if (status !== 0) t.comment(stdout + stderr + (error ?? ''));

  // <testcase classname="…" name="…" time="…" /> or with <failure>, <error> or <skipped> inside.
  const cases = readFileSync(report, 'utf8').matchAll(
    /<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs,
  );
  for (const [, file, name, inside = ''] of cases) {
    const title = `${file}: ${name}`;
    if (inside.includes('<skipped')) t.pass(title, { skip: true });
    else t.notMatch(inside, /<(failure|error)/, title);
  }
  t.equal(status, 0, 'pytest succeeds');
});
