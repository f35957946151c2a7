import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { SmallCheckout, stepsIn } from './small-checkout.ts';

const checkout = await SmallCheckout.make(t);
const BUILT = [
  'Installing Python packages',
  'Building the Python environment',
  "Setting the renderer's sample of TeX",
];

t.test('the first set-up installs everything', async (t) => {
  const { code, stdout, stderr } = await checkout.start(['--dev']).ended;
  t.equal(code, 0, stderr);
  t.same(stepsIn(stdout).sort(), [
    'Adding the Python tools for tests',
    'Building the Python environment',
    'Installing Python packages',
    'Installing npm packages',
    "Setting the renderer's sample of TeX",
  ]);
  t.equal(execFileSync(checkout.path('node_modules/.bin/node'), { encoding: 'utf8' }), 'v24.0.0\n');
  for (const name of ['small_build', 'small_run', 'small_dev']) {
    const program = checkout.path('.venv/bin', name);
    t.equal(execFileSync(program, { encoding: 'utf8' }), `${name} runs\n`, 'programs find the interpreter');
  }
  t.same(readdirSync(checkout.path('.setup')).sort(), ['lock', 'setup.log'], 'no temporary file is left');
});

t.test('the next one prints nothing and takes less than a second', async (t) => {
  const { code, stdout, stderr, ms } = await checkout.start(['--dev']).ended;
  t.same([code, stdout + stderr], [0, '']);
  t.ok(ms < 1000, `${ms} ms`);
});

t.test('only what has changed is installed', async (t) => {
  checkout.lockNpmPackages('small', 'other');
  const npm = await checkout.start(['--dev']).ended;
  t.same(stepsIn(npm.stdout), ['Installing npm packages']);
  t.ok(existsSync(checkout.path('node_modules/other/index.js')));
  t.ok(existsSync(checkout.path('node_modules/.bin/node')), 'development packages stay');

  checkout.lockPythonPackage('requirements-dev', 'small_other');
  const tools = await checkout.start(['--dev']).ended;
  t.same(stepsIn(tools.stdout), ['Adding the Python tools for tests']);
  t.ok(existsSync(checkout.path('.venv/bin/small_other')));

  appendFileSync(checkout.path('renderer/native/fork_at.c'), 'const char *added_by_a_test = __FILE__;\n');
  const native = await checkout.start(['--dev']).ended;
  t.same(stepsIn(native.stdout), ['Compiling the native parts of the renderer']);
  const [library = ''] = globSync(checkout.path('.venv/lib/python*/site-packages/libscenepress_fork_at.so'));
  const compiled = readFileSync(library, 'latin1');
  t.match(compiled, /added_by_a_test/);
  t.notOk(compiled.includes(checkout.root), 'scenes, which can read it, learn no path of this machine');

  const sample = checkout.path('.venv/share/scenepress-tex/sample');
  t.equal(readFileSync(sample, 'utf8'), '');
  writeFileSync(checkout.path('renderer/scene_renderer/tex/characters.tex'), 'other characters');
  const tex = await checkout.start(['--dev']).ended;
  t.same(stepsIn(tex.stdout), ["Setting the renderer's sample of TeX"]);
  t.equal(readFileSync(sample, 'utf8'), 'other characters');
});

t.test('without --dev, only what a service needs is installed', async (t) => {
  const started = await SmallCheckout.make(t);
  const env = { SCENEPRESS_SETUP_PYTHON: started.idlePython() };
  const setUp = async (...args: string[]) => stepsIn((await started.start(args, { env }).ended).stdout);
  t.ok((await setUp()).includes('Installing npm packages'));
  t.same(
    readdirSync(started.path('node_modules')).filter((name) => !name.startsWith('.')),
    ['small'],
  );
  t.same(await setUp(), []);
  t.same(await setUp('--npm-only'), ['Installing npm packages']);
  t.ok(existsSync(started.path('node_modules/.bin/node')), 'Node 24, whatever this Node is');
  t.same(await setUp(), [], 'what is there, too, is no reason to install');
});

t.test('native sources are compiled again when any file changes, appears or disappears', async (t) => {
  const idle = await SmallCheckout.make(t);
  const env = { SCENEPRESS_SETUP_PYTHON: idle.idlePython() };
  const header = idle.path('renderer/native/module/header.h');
  const setUp = async () => stepsIn((await idle.start([], { env }).ended).stdout);
  const compiled = ['Compiling the native parts of the renderer'];
  t.match(await setUp(), ['Installing Python packages']);
  mkdirSync(dirname(header));
  writeFileSync(header, 'int first;\n');
  t.same(await setUp(), compiled, 'a header was added');
  writeFileSync(header, 'int other;\n');
  t.same(await setUp(), compiled, 'it was changed');
  t.same(await setUp(), [], 'nothing was changed');
  rmSync(header);
  t.same(await setUp(), compiled, 'it was removed');
});

t.test('removed parts are installed again', async (t) => {
  rmSync(checkout.path('node_modules/.bin'), { recursive: true });
  const node = await checkout.start(['--dev']).ended;
  t.same(stepsIn(node.stdout), ['Installing Node 24']);
  t.ok(existsSync(checkout.path('node_modules/.bin/node')));

  rmSync(checkout.path('.venv/bin/python'));
  const python = await checkout.start().ended;
  t.same(stepsIn(python.stdout), BUILT);
  t.ok(existsSync(checkout.path('.venv/bin/small_run')));
});

t.test('a Python environment can be built elsewhere', async (t) => {
  const folder = checkout.path('elsewhere');
  const { code, stdout } = await checkout.start(['--python-only', folder]).ended;
  t.equal(code, 0);
  t.same(stepsIn(stdout), BUILT);
  t.equal(execFileSync(`${folder}/bin/small_run`, { encoding: 'utf8' }), 'small_run runs\n');
});
