import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');

function run(script: string, ...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [join(root, 'scripts', script), ...args], { encoding: 'utf8' });
}

t.test('set-up prints nothing and takes no time when everything is installed', async (t) => {
  const start = performance.now();
  const { status, stdout, stderr } = run('setup.mjs', '--dev');
  t.equal(status, 0);
  t.equal(stdout + stderr, '');
  t.ok(performance.now() - start < 1000);
});

t.test('set-up refuses options that it does not know', async (t) => {
  const { status, stderr } = run('setup.mjs', '--prod');
  t.equal(status, 1);
  t.match(stderr, /Unknown option or missing value: --prod/);
});

t.test('set-up names the machine that renders need', async (t) => {
  const other = "data:text/javascript,Object.defineProperty(process, 'platform', { value: 'darwin' })";
  for (const args of [[], ['--archive', 'missing'], ['--python-only', '/missing']]) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', other, join(root, 'scripts/setup.mjs'), ...args],
      { encoding: 'utf8' },
    );
    t.equal(status, 1);
    t.equal(stdout, '');
    t.match(stderr, /^Renders need Linux on x64; this is darwin on \w+\. .*--server URL.*scenepress\/client/);
  }
});

t.test('the command offers set-up', async (t) => {
  const { status, stdout } = run('scenepress.mjs', 'setup', '--help');
  t.equal(status, 0);
  t.match(stdout, /--python-only DIR/);
});
