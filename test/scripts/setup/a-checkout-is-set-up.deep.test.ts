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
import { SmallCheckout } from './small-checkout.ts';

const checkout = await SmallCheckout.make(t);

t.test('the first set-up installs everything', async (t) => {
  const { code, stdout, stderr } = await checkout.start(['--dev']).ended;
  t.equal(code, 0, stderr);
  t.match(
    stdout,
    /^Installing npm packages … \d+ s\nBuilding the Python environment … \d+ s\nAdding the Python tools for tests … \d+ s\n$/,
  );
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
  checkout.lockNpmPackages('node', 'small');
  const npm = await checkout.start(['--dev']).ended;
  t.match(npm.stdout, /^Installing npm packages … \d+ s\n$/);
  t.ok(existsSync(checkout.path('node_modules/small/index.js')));

  checkout.lockPythonPackage('requirements-dev', 'small_other');
  const tools = await checkout.start(['--dev']).ended;
  t.match(tools.stdout, /^Adding the Python tools for tests … \d+ s\n$/);
  t.ok(existsSync(checkout.path('.venv/bin/small_other')));

  appendFileSync(checkout.path('renderer/native/fork_at.c'), 'const char *added_by_a_test = __FILE__;\n');
  const native = await checkout.start(['--dev']).ended;
  t.match(native.stdout, /^Compiling the native parts of the renderer … \d+ s\n$/);
  const [library = ''] = globSync(checkout.path('.venv/lib/python*/site-packages/libscenepress_fork_at.so'));
  const compiled = readFileSync(library, 'latin1');
  t.match(compiled, /added_by_a_test/);
  t.notOk(compiled.includes(checkout.root), 'scenes, which can read it, learn no path of this machine');

  const sample = checkout.path('.venv/share/scenepress-tex/sample');
  t.equal(readFileSync(sample, 'utf8'), '');
  writeFileSync(checkout.path('renderer/scene_renderer/characters.tex'), 'other characters');
  const tex = await checkout.start(['--dev']).ended;
  t.match(tex.stdout, /^Setting the renderer's sample of TeX … \d+ s\n$/);
  t.equal(readFileSync(sample, 'utf8'), 'other characters');
});

t.test('native sources are compiled again when any file changes, appears or disappears', async (t) => {
  const idle = await SmallCheckout.make(t);
  const env = { SCENEPRESS_SETUP_PYTHON: idle.idlePython() };
  const header = idle.path('renderer/native/module/header.h');
  const setUp = async () => (await idle.start([], { env }).ended).stdout.replace(/\d+/g, '0');
  const compiled = 'Compiling the native parts of the renderer … 0 s\n';
  t.match(await setUp(), 'Building the Python environment');
  mkdirSync(dirname(header));
  writeFileSync(header, 'int first;\n');
  t.equal(await setUp(), compiled, 'a header was added');
  writeFileSync(header, 'int other;\n');
  t.equal(await setUp(), compiled, 'it was changed');
  t.equal(await setUp(), '', 'nothing was changed');
  rmSync(header);
  t.equal(await setUp(), compiled, 'it was removed');
});

t.test('removed parts are installed again', async (t) => {
  rmSync(checkout.path('node_modules/.bin'), { recursive: true });
  const node = await checkout.start().ended;
  t.match(node.stdout, /^Installing Node 24 … \d+ s\n$/);
  t.ok(existsSync(checkout.path('node_modules/.bin/node')));

  rmSync(checkout.path('.venv/bin/python'));
  const python = await checkout.start().ended;
  t.match(python.stdout, /^Building the Python environment … \d+ s\n$/);
  t.ok(existsSync(checkout.path('.venv/bin/small_run')));
});

t.test('a Python environment can be built elsewhere', async (t) => {
  const folder = checkout.path('elsewhere');
  const { code, stdout } = await checkout.start(['--python-only', folder]).ended;
  t.equal(code, 0);
  t.match(stdout, /^Building the Python environment … \d+ s\n$/);
  t.equal(execFileSync(`${folder}/bin/small_run`, { encoding: 'utf8' }), 'small_run runs\n');
});
