import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from './failures.mjs';
import { fresh, hashOf, read, swap } from './files.mjs';
import { execute } from './run.mjs';
import { fetchUv, pythonVariables, splitLock, uvDetail } from './uv.mjs';

const STAMP = '.scenepress-lock';
const NATIVE_STAMP = '.scenepress-native';
const TEX_STAMP = '.scenepress-tex';
export const TEX_SOURCES = [
  'tex/characters.tex',
  'tex/formats.py',
  'tex/known.py',
  'tex/prepared.py',
  'tex/sample.py',
];
const TOOLS_STAMP = '.scenepress-dev-lock';
/** Packages without wheels. All others must be installed as wheels, so they need no compiler. */
const FROM_SOURCE = ['manimpango', 'pycairo', 'srt'];
const RENDERERS_VARIABLES = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', HOME: '/nonexistent' };
/** Source paths as renderers see them: bytecode contains them, and scenes can read it. Nothing imports tests of packages. */
const COMPILE = `
import compileall, re, sys, sysconfig
packages = sysconfig.get_path('purelib')
options = {'force': sys.argv[2] == 'all', 'rx': re.compile('/tests?/'), 'quiet': 2, 'workers': 0}
compileall.compile_dir(packages, stripdir=sys.argv[1], prependdir='/scenepress/python', **options)
`;
/**
 * Compiles each native source, a file or a folder of files, to a library beside the packages: one for LaTeX, and a Python
 * module. Earlier ones are replaced as a whole, because renderers may have loaded them. Relative paths, because assertions
 * contain those of the sources, and scenes can read them.
 */
const COMPILE_NATIVE = `
import os, pathlib, subprocess, sys, sysconfig
packages = sysconfig.get_path('purelib')
for source in map(pathlib.Path, sys.argv[1:]):
    name, files, options = 'libscenepress_fork_at.so', [source], ['-ldl']
    if source.name == 'scenepress_native':
        import cairo, numpy
        name, files = 'scenepress_native.so', sorted(source.glob('*.c'))
        flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'cairo'], check=True, capture_output=True, text=True)
        folders = [sysconfig.get_path('include'), numpy.get_include(), cairo.get_include()]
        includes = [f'-I{folder}' for folder in folders]
        options = ['-fvisibility=hidden', '-ffp-contract=off', *includes, *flags.stdout.split()]
    made = f'{packages}/.{name}'
    files = [file.relative_to(source.parent) for file in files]
    subprocess.run(['cc', '-O2', '-shared', '-fPIC', '-o', made, *files, *options], check=True, cwd=source.parent)
    os.replace(made, f'{packages}/{name}')
`;

/**
 * Builds the Python environment of the renderer in `venv`, from the locks and native sources in `renderer/`. The first step
 * needs Python only, so that it can be taken while compilers are being installed; the second one needs these.
 *
 * @param {string} root
 * @param {string} venv
 * @param {{ afterPython?: import('./step.mjs').Step[], afterCompilers?: import('./step.mjs').Step[] }} [order]
 * @returns {{ packages: import('./step.mjs').Step, environment: import('./step.mjs').Step }}
 */
export function pythonEnvironment(root, venv, { afterPython = [], afterCompilers = [] } = {}) {
  const stamp = stampOf(STAMP, lockFiles(root, 'requirements-build', 'requirements'));
  const native = nativeLibraries(root, venv);
  let begun;
  const packages = {
    title: 'Installing Python packages',
    source: 'the Python package index',
    after: afterPython,
    detail: uvDetail,
    isDone: () => begun !== undefined || stamp.isOn(venv),
    async take(run) {
      const beside = fresh(join(run.folder, 'venv'));
      await execute(run, choosePython(), ['-m', 'venv', beside], { env: pythonVariables() });
      const [sources, wheels] = [join(beside, 'sources.lock'), join(beside, 'wheels.lock')];
      splitLock(lockFile(root, 'requirements'), FROM_SOURCE, { chosen: sources, others: wheels });
      const install = await fetchUv(run, { venv: beside, lock: lockFile(root, 'requirements-uv') });
      await install(run, wheels, '--no-build', `--requirement=${lockFile(root, 'requirements-build')}`);
      await compilePackages(run, beside, 'new');
      begun = {
        beside,
        buildSources: (run) => install(run, sources, '--no-build-isolation', '--no-binary=:all:'),
      };
    },
  };
  const environment = {
    title: 'Building the Python environment',
    source: 'the Python package index',
    after: [packages, ...afterCompilers],
    detail: uvDetail,
    isDone: () => stamp.isOn(venv),
    async take(run) {
      const { beside, buildSources } = begun;
      await buildSources(run);
      await Promise.all([compilePackages(run, beside, 'new'), native.takeIn(run, beside)]);
      for (const name of ['sources.lock', 'wheels.lock']) rmSync(join(beside, name));
      relocate(beside, venv);
      stamp.put(beside);
      swap(beside, venv, join(run.folder, 'venv-old'));
      rmSync(join(run.folder, 'uv'), { recursive: true });
    },
  };
  return { packages, environment };
}

/**
 * Compiles the native sources again when they have changed since the environment was built.
 *
 * @param {string} root
 * @param {string} venv
 * @param {import('./step.mjs').Step[]} [after]
 * @returns {import('./step.mjs').Step & { takeIn: (run: import('./run.mjs').Run, venv: string) => Promise<void> }}
 */
export function nativeLibraries(root, venv, after = []) {
  const folder = join(root, 'renderer', 'native');
  const pathsOf = (options) => readdirSync(folder, options).map((name) => join(folder, name));
  const sources = pathsOf();
  const files = pathsOf({ recursive: true }).filter((path) => statSync(path).isFile());
  const stamp = stampOf(NATIVE_STAMP, files.sort());
  return ownPart('Compiling the native parts of the renderer', { stamp, venv, after }, (run, venv) =>
    execute(run, join(venv, 'bin', 'python'), ['-c', COMPILE_NATIVE, ...sources], { env: pythonVariables() }),
  );
}

/**
 * Sets the renderer's sample of TeX, which each renderer process would otherwise set when it starts: two seconds of a
 * processor. Again when its sources have changed, or LaTeX was updated.
 *
 * @param {string} root
 * @param {string} venv
 * @param {import('./step.mjs').Step[]} [after]
 * @returns {import('./step.mjs').Step & { takeIn: (run: import('./run.mjs').Run, venv: string) => Promise<void> }}
 */
export function preparedTex(root, venv, after = []) {
  const renderer = join(root, 'renderer');
  const sources = TEX_SOURCES.map((name) => join(renderer, 'scene_renderer', name));
  const stamp = stampOf(TEX_STAMP, sources, latexFormat);
  return ownPart("Setting the renderer's sample of TeX", { stamp, venv, after }, async (run, venv) => {
    const cache = fresh(join(run.folder, 'tex'));
    const env = { ...RENDERERS_VARIABLES, XDG_CACHE_HOME: cache, PYTHONPATH: renderer };
    const args = ['-s', '-P', '-B', '-m', 'scene_renderer', 'prepare-tex'];
    await execute(run, join(venv, 'bin', 'python'), args, { env });
    rmSync(cache, { recursive: true, force: true });
  });
}

/** A step that makes a part of an environment from this checkout; `takeIn` makes it in one that is being built. */
function ownPart(title, { stamp, venv, after }, make) {
  const takeIn = async (run, venv) => {
    await make(run, venv);
    stamp.put(venv);
  };
  return {
    title,
    source: 'this checkout',
    after,
    isDone: () => stamp.isOn(venv),
    take: (run) => takeIn(run, venv),
    takeIn,
  };
}

/** Changes with each update of LaTeX. */
function latexFormat() {
  const status = statSync('/var/lib/texmf/web2c/pdftex/latex.fmt', { throwIfNoEntry: false });
  return status ? `${status.size} ${status.mtimeMs}` : 'none';
}

/**
 * Adds what tests and checks of the renderer need.
 *
 * @param {string} root
 * @param {string} venv
 * @param {import('./step.mjs').Step[]} [after]
 * @returns {import('./step.mjs').Step}
 */
export function pythonTools(root, venv, after = []) {
  const stamp = stampOf(TOOLS_STAMP, lockFiles(root, 'requirements', 'requirements-dev'));
  return {
    title: 'Adding the Python tools for tests',
    source: 'the Python package index',
    after,
    detail: uvDetail,
    isDone: () => stamp.isOn(venv),
    async take(run) {
      const install = await fetchUv(run, { venv, lock: lockFile(root, 'requirements-uv') });
      // Again, because an interrupted installation leaves packages that seem complete.
      await install(run, lockFile(root, 'requirements-dev'), '--no-build', '--reinstall');
      await compilePackages(run, venv, 'all');
      stamp.put(venv);
      rmSync(join(run.folder, 'uv'), { recursive: true });
    },
  };
}

const lockFile = (root, name) => join(root, 'renderer', `${name}.lock`);
const lockFiles = (root, ...names) => names.map((name) => lockFile(root, name));

/** Compiles packages: all of them, or those that are not compiled yet. */
function compilePackages(run, venv, which) {
  return execute(run, join(venv, 'bin', 'python'), ['-c', COMPILE, venv, which], { env: pythonVariables() });
}

function choosePython() {
  const chosen = process.env.SCENEPRESS_SETUP_PYTHON;
  // The system's first: the renderer's uid can't access one in a home folder.
  const names = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
  const candidates = chosen ? [chosen] : [...names.map((name) => `/usr/bin/${name}`), ...names];
  const check = 'import sys, venv; sys.exit(sys.version_info < (3, 11))';
  const found = candidates.find((path) => spawnSync(path, ['-c', check], { stdio: 'ignore' }).status === 0);
  if (found) return found;
  throw new SetupError(
    chosen
      ? `SCENEPRESS_SETUP_PYTHON is ${chosen}, which is not Python 3.11 or newer.`
      : 'Python 3.11 or newer was not found. Install it, or set SCENEPRESS_SETUP_PYTHON to its path.',
  );
}

/** A file in an environment that names the interpreter and the files that it was built from. `state`: of other things. */
function stampOf(name, sources, state = () => '') {
  const textOf = (venv) => {
    const interpreter = realpathSync(join(venv, 'bin', 'python'));
    return [interpreter, ...sources.map(hashOf), state()].join('\n');
  };
  return {
    isOn(venv) {
      const found = read(join(venv, name));
      try {
        return found !== undefined && found === textOf(venv);
      } catch {
        return false; // The interpreter has been removed.
      }
    },
    put: (venv) => writeFileSync(join(venv, name), textOf(venv)),
  };
}

/** Replaces the absolute path of the interpreter in the scripts of bin/ by its final path. */
function relocate(from, to) {
  for (const name of readdirSync(join(from, 'bin'))) {
    const path = join(from, 'bin', name);
    const stat = lstatSync(path);
    if (!stat.isFile() || stat.size > 65536) continue;
    const text = readFileSync(path, 'latin1');
    if (text.includes(from)) writeFileSync(path, text.replaceAll(from, to), 'latin1');
  }
}
