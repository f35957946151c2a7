import { execFile } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { programsFor, shardOf } from '../../scripts/test/plan.ts';
import { failedTitles, withoutPassed } from '../../scripts/test/tap-lines.ts';
import { deepTest } from '../fixtures/depth.ts';
import { testFolder } from '../fixtures/test-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const NOT_PASSED_ON = /^(SCENEPRESS_|TAP|_TAPJS|NODE_OPTIONS)/;
const ENV = Object.fromEntries(Object.entries(process.env).filter(([name]) => !NOT_PASSED_ON.test(name)));

const PASSES = "import t from 'tap';\nt.test('good', async (t) => t.ok(true));\n";
const FAILS = "import t from 'tap';\nt.test('bad', async (t) => t.equal(1, 2, 'a sum'));\n";
const HANGS =
  "import t from 'tap';\nt.test('stuck', () => new Promise((resolve) => setTimeout(resolve, 1e6)));\n";
const SAMPLED = `import t from 'tap';\nimport { isDeep } from '../fixtures/depth.ts';\nt.notOk(isDeep, 'a rare case');\n`;
const PYTHON = `import pytest

def test_good(): pass

def test_bad(): assert 1 == 2

@pytest.mark.deep
def test_slow(): assert "slow" == ""
`;

const DEPTH = readFileSync(join(ROOT, 'test/renderer/depth.py'), 'utf8');

type Files = Parameters<Test['testdir']>[0];

/** A checkout with these tests, and the runner. */
function checkout(t: Test, test: Files): string {
  const readme = '| `lib/` | the library | 0 | 900 |\n';
  const folder = testFolder(t, { renderer: {}, scripts: {}, test: { 'README.md': readme, ...Object(test) } });
  cpSync(join(ROOT, 'scripts/test'), join(folder, 'scripts/test'), { recursive: true });
  cpSync(join(ROOT, 'renderer/pyproject.toml'), join(folder, 'renderer/pyproject.toml'));
  cpSync(join(ROOT, 'test/fixtures/depth.ts'), join(folder, 'test/fixtures/depth.ts'));
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  for (const name of ['.venv', 'node_modules']) symlinkSync(join(ROOT, name), join(folder, name));
  return folder;
}

async function run(folder: string, ...args: string[]) {
  const running = promisify(execFile)(process.execPath, ['scripts/test/index.ts', ...args], {
    cwd: folder,
    env: ENV,
  });
  const { code = 0, stdout } = await running.catch((error) => error);
  const summary = readFileSync(join(folder, '.setup/tests.summary'), 'utf8').trim();
  return {
    code,
    stdout: stdout as string,
    summary,
    lastLine: (stdout as string).trimEnd().split('\n').at(-1),
  };
}

t.test('failures are reported wherever they are, by the suite that runs them', async (t) => {
  const folder = checkout(t, {
    lib: { 'a.test.ts': PASSES, 'b.test.ts': FAILS, 'c.deep.test.ts': FAILS },
    renders: { 'd.test.ts': FAILS, 'e.deep.test.ts': PASSES, 'g.release.test.ts': FAILS },
    simulator: { 'f.test.ts': SAMPLED },
    renderer: { 'conftest.py': 'from depth import *\n', 'depth.py': DEPTH, 'test_g.py': PYTHON },
  });
  const quick = await run(folder);
  t.match(quick, { code: 1, summary: '3 passed, 3 failed', lastLine: '3 passed, 3 failed' });
  const [, failed] = quick.stdout.split('\nFailed:\n');
  t.match(failed, /lib\/b\.test\.ts\n +bad\n +a sum\n/);
  t.match(failed, /renders\/d\.test\.ts\n +bad\n/);
  t.match(failed, /renderer\/test_g\.py\n +test_bad\n/);
  t.match(quick.stdout, /^ok test\/lib\/a\.test\.ts \(/m);
  t.match(quick.stdout, /^lib +2 +\d+ +0 +\d+ {2}over its budget$/m);
  t.notMatch(quick.stdout, /\/[ceg]\.(deep|release)\.test|test_slow/);

  const rest = await run(folder, '--rest');
  t.match(rest, { code: 1, lastLine: '1 passed, 3 failed' });
  for (const title of [/c\.deep\.test\.ts\n +bad\n/, /a rare case/, /test_slow/]) t.match(rest.stdout, title);
  t.notMatch(rest.stdout, /(a|b|d)\.test\.ts|release\.test|test_bad/);

  const all = await run(folder, '--deep');
  t.equal(all.lastLine, '3 passed, 6 failed');
  const release = await run(folder, '--release');
  t.equal(release.lastLine, '3 passed, 7 failed');
  t.match(release.stdout, /g\.release\.test\.ts\n +bad\n/);

  t.match(await run(folder, 'lib/a.ts'), { code: 0, lastLine: '1 passed, 0 failed' }, 'tests of a source');
  t.match(await run(folder, 'test/lib/c.deep.test.ts'), { code: 1, lastLine: '0 passed, 1 failed' });
});

deepTest(t, 'a failing test is reported by the suite of its folder', async (t) => {
  const table = readFileSync(join(ROOT, 'test/README.md'), 'utf8').matchAll(
    /^\| `(\w+)\/` \|.*\| (\d+) \| \d+ \|$/gm,
  );
  const folders = [...table].map(([, name = '', quick]) => ({ name, isQuick: quick !== '0' }));
  t.ok(folders.length > 10);
  const planted = folders.map(({ name, isQuick }) => [
    name,
    { 'y.deep.test.ts': FAILS, ...(isQuick && { 'z.test.ts': FAILS }) },
  ]);
  const folder = checkout(t, Object.fromEntries(planted));
  const [quick, rest] = [await run(folder), await run(folder, '--rest')];
  const reported = (stdout: string) =>
    [...stdout.matchAll(/^not ok test\/(\S+) \(/gm)].map(([, file]) => file).sort();
  const names = (isDeep: boolean) =>
    folders.flatMap(({ name, isQuick }) =>
      isDeep ? [`${name}/y.deep.test.ts`] : isQuick ? [`${name}/z.test.ts`] : [],
    );
  t.same(reported(quick.stdout), names(false).sort());
  t.same(reported(rest.stdout), names(true).sort());
});

t.test('a program that hangs is ended, with what its processes do', async (t) => {
  const folder = checkout(t, { lib: { 'a.test.ts': HANGS, 'b.test.ts': PASSES } });
  const { code, stdout } = await run(folder, '--limit', '2');
  t.equal(code, 1);
  t.match(stdout, /lib\/a\.test\.ts\n +stuck\n/);
  t.match(stdout, /^\d+ of \d+ S \w+ \S*node \S*group\.ts test\/lib\/a\.test\.ts/m);
});

t.test('all tests are in exactly one of the parts for several machines', async (t) => {
  const files = Array.from({ length: 30 }, (_, index) => `test/lib/${index}.test.ts`);
  const usual = new Map(files.map((path, index) => [path, index]));
  const parts = [1, 2, 3, 4].map((index) => shardOf(files, usual, [index, 4]));
  t.same(parts.flat().sort(), [...files].sort());
  const seconds = parts.map((part) => part.reduce((sum, path) => sum + Number(usual.get(path)), 0));
  t.ok(Math.max(...seconds) - Math.min(...seconds) < 10, `${seconds}`);
});

t.test('programs that take longest begin first, and those that run alone last', async (t) => {
  const usual = new Map([
    ['test/crashes/a.test.ts', 5],
    ['test/crashes/b.test.ts', 50],
    ['test/binary/smoke/c.test.ts', 500],
  ]);
  const names = programsFor([...usual.keys()], usual).map(({ name }) => name);
  t.same(names, ['test/crashes/b.test.ts', 'test/crashes/a.test.ts', 'test/binary/smoke/c.test.ts']);
});

t.test('of what tap prints, failures are left', async (t) => {
  const lines = [
    '# Subtest: good',
    '    ok 1 - fine',
    '    1..1',
    'ok 1 - good # time=5ms',
    '# Subtest: mixed',
    '    ok 1 - fine',
    '    not ok 2 - wrong',
    '      ---',
    '      found: 1',
    '      ...',
    '    1..2',
    'not ok 2 - mixed # time=7.5ms',
  ];
  const left = withoutPassed(lines);
  t.same(left, [lines[4], ...lines.slice(6)]);
  t.same(failedTitles(left), ['mixed', '    wrong']);
});
