import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import t from 'tap';
import { cannotUnpack, packSmallRoot } from '../../fixtures/packed-root.ts';
import { type SetupProcess, SmallCheckout, stepsIn } from './small-checkout.ts';

const installed = await SmallCheckout.make(t);
installed.install();
const env = { SCENEPRESS_RENDERER_DIR: installed.path('../several') };
const pipe = installed.path('../pipe');
execFileSync('mkfifo', [pipe]);
/** Environments are built when something is written to the pipe. */
const waiting = { ...env, SCENEPRESS_SETUP_PYTHON: installed.idlePython(pipe) };
const BUILDING = 'Installing Python packages';
const environments = () =>
  readdirSync(env.SCENEPRESS_RENDERER_DIR).filter((name) => /^python-\w+$/.test(name));

t.test('the command builds the environment in the shared folder', async (t) => {
  const idle = { ...env, SCENEPRESS_SETUP_PYTHON: installed.idlePython() };
  const { code, stdout, stderr } = await installed.start([], { env: idle }).ended;
  t.equal(code, 0, stderr);
  t.match(stepsIn(stdout), ['Installing Python packages', 'Building the Python environment']);
  t.match(stdout, /\nThe renderer is in \S+\/several\/python-\w{16}\.\n$/);
  t.equal(environments().length, 1);
  t.notOk(existsSync(installed.path('.venv')));
});

t.test('the command unpacks an archive', { skip: cannotUnpack() }, async (t) => {
  mkdirSync(installed.path('../packed'));
  const { file } = packSmallRoot(installed.path('../packed'), { 'etc/hello': 'hello' });
  const folder = installed.path('../unpacked');
  const { code, stdout, stderr } = await installed.start(['--archive', file, '--renderer-dir', folder]).ended;
  t.equal(code, 0, stderr);
  const [, root = ''] =
    /^Unpacking the renderer …\nThe renderer is in (\S+\/unpacked\/root-\w+-\w+)\.\n$/.exec(stdout) ?? [];
  t.equal(readFileSync(`${root}/etc/hello`, 'utf8'), 'hello');
  const absent = await installed.start(['--archive', '/absent', '--renderer-dir', folder]).ended;
  t.match([absent.code, absent.stderr], [1, "The archive /absent can't be read (ENOENT).\n"]);
});

interface Result {
  python: string;
  messages: string[];
  ms: number;
}

async function resultOf({ ended }: SetupProcess): Promise<Result> {
  const { code, stdout, stderr } = await ended;
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

t.test('ensureRenderer finds it within 50 ms', async (t) => {
  const times: number[] = [];
  for (let tries = 0; tries < 3; tries++) {
    const found = await resultOf(installed.ensure({ env }));
    t.match(found, { python: /several\/python-\w+\/bin\/python$/, messages: [] });
    times.push(found.ms);
  }
  // The least, because other programs run at the same time.
  t.ok(Math.min(...times) < 50, `${times} ms`);
});

t.test('another version has another environment; of two processes, one builds it', async (t) => {
  installed.lockPythonPackage('requirements', 'small_other');
  const first = installed.ensure({ env: waiting });
  await first.prints(BUILDING);
  const second = installed.ensure({ env: waiting });
  await second.prints('Waiting for another setup to finish');
  await writeFile(pipe, 'go');
  const [one, two] = await Promise.all([resultOf(first), resultOf(second)]);
  t.equal(one.python, two.python);
  t.same(
    [one.messages, two.messages],
    [
      [BUILDING, 'Building the Python environment', "Setting the renderer's sample of TeX"],
      ['Waiting for another setup to finish'],
    ],
  );
  t.equal(environments().length, 2);
});

t.test('a killed process leaves nothing that counts as complete', async (t) => {
  rmSync(env.SCENEPRESS_RENDERER_DIR, { recursive: true });
  const killed = installed.ensure({ env: waiting });
  await killed.prints(BUILDING);
  process.kill(killed.pid, 'SIGKILL');
  await killed.ended;
  t.same(environments(), []);
  const idle = { ...env, SCENEPRESS_SETUP_PYTHON: installed.idlePython() };
  t.ok(existsSync((await resultOf(installed.ensure({ env: idle }))).python), 'its programs hold no lock');
});

t.test('an abort ends the set-up', async (t) => {
  rmSync(env.SCENEPRESS_RENDERER_DIR, { recursive: true });
  const { code, stderr } = await installed.ensure({ env: waiting, abortAt: BUILDING }).ended;
  t.equal(code, 1);
  t.match(stderr, /AbortError/);
  t.same(environments(), []);
});

t.test('a failure says what is missing', async (t) => {
  const python = { ...env, SCENEPRESS_SETUP_PYTHON: installed.path('absent') };
  const old = await installed.ensure({ env: python }).ended;
  t.match(old.stderr, /SCENEPRESS_SETUP_PYTHON is \S+, which is not Python 3\.11 or newer\./);
  t.match(old.stderr, /code: 'renderer_unavailable'/);
  const missing = await installed.ensure({ env, missing: 'dvisvgm' }).ended;
  t.match(missing.stderr, /Install them as root:\n\n {2}sudo apt-get .* dvisvgm\n/);
});

t.test('TeX packages that few scenes need can be left out', async (t) => {
  const idle = { ...env, SCENEPRESS_SETUP_PYTHON: installed.idlePython() };
  const needed = await installed.ensure({ env: idle, missing: 'texlive-xetex' }).ended;
  t.match(needed.stderr, /sudo apt-get .* texlive-xetex\n/);
  const without = { ...idle, SCENEPRESS_EXTRA_TEX: 'off' };
  t.ok(existsSync((await resultOf(installed.ensure({ env: without, missing: 'texlive-xetex' }))).python));
});
