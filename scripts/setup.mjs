#!/usr/bin/env node
/**
 * Installs the requirements of a checkout: system packages, npm packages, Node 24, the Python environment.
 *
 * Runs on Node 20 without dependencies, so it uses no packages and no TypeScript. Each step first checks whether
 * its result exists, which takes milliseconds. Results are built in a temporary folder and renamed, so the next
 * setup completes an interrupted one.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const usage = `Usage: scenepress setup [options]   (in a checkout: node scripts/setup.mjs)

Installs the requirements of Scenepress; skips those that are already installed.

  --dev               also install the requirements of tests and checks
  --python-only DIR   install only system packages and a Python environment in DIR
  --no-system         don't check or install system packages
  --help              show this text

SCENEPRESS_SETUP_PYTHON is the Python (3.11 or newer) to build the environment with.
`;

/**
 * Debian package → a program whose presence shows, on other systems, that it is installed.
 * If a package has none (headers, TeX styles), the step that needs it reports its absence.
 */
export const systemPackages = {
  run: {
    'python3-venv': 'python3',
    'texlive-latex-base': 'latex',
    'texlive-latex-recommended': undefined,
    'texlive-latex-extra': undefined,
    'texlive-fonts-recommended': undefined,
    dvisvgm: 'dvisvgm',
    // Font fallback in this order: Noto for most alphabets, WenQuanYi for Chinese, Japanese and Korean, Symbola for
    // emoji as outlines, because Manim doesn't draw bitmaps.
    'fonts-noto-core': undefined,
    'fonts-dejavu-core': undefined,
    'fonts-lmodern': undefined,
    'fonts-wqy-zenhei': undefined,
    'fonts-symbola': undefined,
    bubblewrap: 'bwrap',
    libseccomp2: undefined,
  },
  // pycairo and ManimPango have no wheels for Linux.
  build: {
    gcc: 'gcc',
    'pkg-config': 'pkg-config',
    'python3-dev': undefined,
    'libcairo2-dev': undefined,
    'libpango1.0-dev': undefined,
  },
  // Tests run the manual's webhook verifiers in their languages, and trace disk writes to simulate power failures.
  dev: { ffmpeg: 'ffprobe', 'golang-go': 'go', openssl: 'openssl', 'php-cli': 'php', strace: 'strace' },
  // The single executable is only built and tested on Debian.
  binary: { iproute2: 'ip', mmdebstrap: 'mmdebstrap', zstd: 'zstd' },
};

/** Packages without wheels. All others must be installed as wheels, so they need no compiler. */
const pythonPackagesFromSource = 'manimpango,pycairo,srt';

export class SetupError extends Error {
  name = 'SetupError';
}

/**
 * @param {object} [options]
 * @param {boolean} [options.dev] also install the requirements of tests and checks
 * @param {string} [options.pythonOnly] build only the Python environment, in this folder
 * @param {boolean} [options.system] false: don't check or install system packages
 * @param {(text: string) => void} [options.print] receives progress text, possibly parts of lines
 * @returns {Promise<{ python: string, changed: boolean }>} python: the environment's interpreter
 * @throws {SetupError} with a message for the user: the failure, and how to fix it
 */
export async function setUp(options = {}) {
  const { dev = false, pythonOnly, system = true, print = (text) => process.stdout.write(text) } = options;
  const venv = pythonOnly ? resolve(pythonOnly) : join(root, '.venv');
  const python = join(venv, 'bin', 'python');

  const steps = [
    ...(system ? [systemStep(dev, venv)] : []),
    ...(pythonOnly ? [] : [npmStep(), nodeStep()]),
    pythonStep(venv),
    ...(dev ? [pythonDevStep(venv)] : []),
  ];
  if (steps.every((step) => step.done())) return { python, changed: false };

  // Files installed by root must be readable by others: the renderer runs under its own uid.
  const umask = process.umask(0o022);
  try {
    const run = openRun(pythonOnly ? `${venv}.setup` : join(root, '.setup'), print);
    for (const step of steps) {
      // Checked again: another setup may have done it while this one waited.
      if (!step.done()) await perform(step, run);
    }
  } finally {
    process.umask(umask);
  }
  return { python, changed: true };
}

// --- Running -------------------------------------------------------------------------------------------

/** Opens and locks the folder for the log and temporary files. Only one setup can hold it. */
function openRun(folder, print) {
  mkdirSync(folder, { recursive: true });
  // A kernel lock on a descriptor that all child processes inherit: it is released when the last of them ends,
  // even if this process is killed while npm is running.
  const lock = openSync(join(folder, 'lock'), 'a');
  const flock = (...flags) =>
    spawnSync('flock', [...flags, '3'], { stdio: ['ignore', 'ignore', 'ignore', lock] }).status;
  if (flock('--nonblock') === 1) {
    print('Waiting for another setup to finish …\n');
    flock();
  }
  const logPath = join(folder, 'setup.log');
  const log = openSync(logPath, 'w');
  return { folder, lock, log, logPath, print };
}

async function perform(step, run) {
  const refusal = step.refusal?.();
  if (refusal) throw new SetupError(refusal);

  const start = performance.now();
  const seconds = () => `${Math.round((performance.now() - start) / 1000)} s`;
  writeFileSync(run.log, `\n=== ${step.title}\n`);

  const live = process.stdout.isTTY
    ? setInterval(() => run.print(`\r${step.title} … ${seconds()}`), 1000)
    : undefined;
  run.print(`${step.title} … `);
  try {
    await step.perform((command, args, settings) => execute(run, command, args, settings), run.folder);
    clearInterval(live);
    run.print(`${live ? `\r${step.title} … ` : ''}${seconds()}\n`);
  } catch (error) {
    clearInterval(live);
    run.print('failed\n');
    throw error instanceof SetupError ? error : new SetupError(failure(step, run, error), { cause: error });
  }
}

function failure(step, run, error) {
  const lines = tail(run.logPath)
    .split('\n')
    .filter((line) => line.trim());
  return [
    `${step.title}: ${error.message}`,
    ...lines.slice(-15).map((line) => `  | ${line}`),
    `Full log: ${run.logPath}`,
  ].join('\n');
}

function tail(path, bytes = 16384) {
  const file = openSync(path, 'r');
  const buffer = Buffer.alloc(bytes);
  const length = readSync(file, buffer, 0, bytes, Math.max(0, statSync(path).size - bytes));
  return buffer.toString('utf8', 0, length);
}

/** Runs a program and logs its output; rejects unless it exits with 0. */
function execute(run, command, args, { cwd = root, env = process.env, name = basename(command) } = {}) {
  writeFileSync(run.log, `$ ${[command, ...args].join(' ')}\n`);
  return new Promise((settle, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', run.log, run.log, run.lock] });
    const stop = (signal) => {
      child.kill(signal);
      process.exit(signal === 'SIGINT' ? 130 : 143);
    };
    process.once('SIGINT', stop).once('SIGTERM', stop);
    child.on('error', (error) => reject(new Error(`${name} can't be started (${error.code})`)));
    child.on('close', (code, signal) => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      if (code === 0) settle();
      else reject(new Error(`${name} ended with ${signal ?? `status ${code}`}`));
    });
  });
}

// --- System packages -----------------------------------------------------------------------------------

function systemStep(dev, venv) {
  const needed = {
    ...systemPackages.run,
    ...(pythonStep(venv).done() ? {} : systemPackages.build),
    ...(dev ? notOnPath(systemPackages.dev) : {}),
    ...(dev && isDebian() ? notOnPath(systemPackages.binary) : {}),
  };
  const missing = once(() => missingSystemPackages(needed));
  return {
    title: 'Installing system packages',
    done: () => missing().length === 0,
    refusal: () => (process.getuid?.() === 0 && isDebian() ? undefined : missingMessage(missing(), needed)),
    async perform(execute) {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
      const apt = (...args) => execute('apt-get', ['-o', 'DPkg::Lock::Timeout=600', ...args], { env });
      const install = () => apt('install', '--yes', '--no-install-recommends', ...missing());
      if (!hasPackageLists()) await apt('update');
      try {
        await install();
      } catch {
        // An earlier installation was interrupted, or the package lists are outdated.
        await execute('dpkg', ['--configure', '-a', '--force-confdef'], { env });
        await apt('update');
        await install();
      }
      missing.forget();
    },
  };
}

/** Programs that only tests call needn't be Debian packages. */
function notOnPath(packages) {
  return Object.fromEntries(Object.entries(packages).filter(([, program]) => !findProgram(program)));
}

function missingSystemPackages(needed) {
  if (!isDebian()) {
    return Object.keys(needed).filter((name) => needed[name] && !findProgram(needed[name]));
  }
  const status = readFileSync('/var/lib/dpkg/status', 'utf8');
  return Object.keys(needed).filter(
    (name) => !status.match(new RegExp(`^Package: ${quoted(name)}\nStatus: \\w+ ok installed$`, 'm')),
  );
}

function missingMessage(missing, needed) {
  if (isDebian()) {
    return [
      'Some system packages are missing. Install them as root:',
      '',
      `  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing.join(' ')}`,
      '',
      'Then run this command again (or with --no-system, if they are installed in another way).',
    ].join('\n');
  }
  return [
    `Some programs are missing: ${missing.map((name) => needed[name]).join(', ')}.`,
    'Please install Python 3.11 or newer with its headers, a C compiler, pkg-config, the development files',
    'of cairo and pango, TeX Live (LaTeX with its recommended and extra packages), dvisvgm, bubblewrap,',
    'libseccomp, and fonts (Noto Sans and Serif, DejaVu, Latin Modern, WenQuanYi Zen Hei, Symbola), then run this',
    'again.',
  ].join('\n');
}

const isDebian = () => existsSync('/var/lib/dpkg/status') && findProgram('apt-get') !== undefined;

function hasPackageLists() {
  try {
    return readdirSync('/var/lib/apt/lists').some((name) => name.includes('_Packages'));
  } catch {
    return false;
  }
}

// --- npm packages --------------------------------------------------------------------------------------

const nodeModules = join(root, 'node_modules');
const npmStamp = join(nodeModules, '.scenepress-lock');

function npmStep() {
  const lockHash = once(() => hashOf(join(root, 'package-lock.json')));
  return {
    title: 'Installing npm packages',
    // A package installed from the registry has no lock; its dependencies are installed by npm.
    done: () => !existsSync(join(root, 'package-lock.json')) || read(npmStamp) === lockHash(),
    async perform(execute, folder) {
      const beside = fresh(join(folder, 'npm'));
      for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
        copyFileSync(join(root, file), join(beside, file));
      }
      // Only `node` needs an install script, which is replaced below.
      // --include=dev: NODE_ENV=production would omit the development packages, including Node 24.
      await npm(execute, beside, 'ci', '--include=dev', '--ignore-scripts');
      const made = join(beside, 'node_modules');
      await installNode(execute, folder, made);
      writeFileSync(join(made, basename(npmStamp)), lockHash());
      swap(made, nodeModules, join(folder, 'npm-old'));
      rmSync(beside, { recursive: true });
    },
  };
}

/** Runs npm, preferably the one that started this process, without the variables that `npm run` sets. */
function npm(execute, cwd, ...args) {
  const env = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (/^npm_(package_|lifecycle_|command$)/.test(name)) continue;
    if (
      /^npm_config_(local_prefix|(global_)?prefix|global|omit|include|ignore_scripts|dry_run)$/.test(name)
    ) {
      continue;
    }
    env[name] = value;
  }
  env.PATH = outsidePath();
  const ours = process.env.npm_execpath;
  return ours && basename(ours) === 'npm-cli.js' && existsSync(ours)
    ? execute(process.execPath, [ours, ...args], { cwd, env, name: 'npm' })
    : execute('npm', args, { cwd, env });
}

// --- Node 24 -------------------------------------------------------------------------------------------

function nodeStep() {
  const bin = join(nodeModules, '.bin', 'node');
  return {
    title: 'Installing Node 24',
    done: () => !existsSync(join(root, 'package-lock.json')) || isNode24(bin),
    perform: (execute, folder) => installNode(execute, folder, nodeModules),
  };
}

function isNode24(path) {
  try {
    // Usually it is the Node of this process.
    if (realpathSync(path) === realpathSync(process.execPath)) return process.version.startsWith('v24.');
  } catch {
    return false;
  }
  return spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout?.startsWith('v24.') === true;
}

/**
 * A robust replacement of the install script of the npm package `node`, which starts a second npm inside
 * node_modules, is skipped by newer versions of npm, and leaves a broken link behind when interrupted.
 */
async function installNode(execute, folder, modules) {
  const { version } = JSON.parse(readFileSync(join(modules, 'node', 'package.json'), 'utf8'));
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  const name = `${prefix}-${process.platform}-${process.arch}`;

  const beside = fresh(join(folder, 'node'));
  writeFileSync(join(beside, 'package.json'), '{ "private": true }\n');
  await npm(execute, beside, 'install', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`);

  const made = join(beside, 'node_modules', name, 'bin', 'node');
  chmodSync(made, 0o755);
  if (!isNode24(made)) throw new Error(`${name}@${version} doesn't run on this machine`);

  const place = join(modules, 'node', 'bin', 'node');
  mkdirSync(dirname(place), { recursive: true });
  renameSync(made, place);
  const link = join(modules, '.bin', 'node');
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(join('..', 'node', 'bin', 'node'), link);
  rmSync(beside, { recursive: true });
}

// --- Python --------------------------------------------------------------------------------------------

const compiling = `
import compileall, sys, sysconfig
packages = sysconfig.get_path('purelib')
compileall.compile_dir(packages, quiet=2, force=True, workers=0, stripdir=sys.argv[1], prependdir='/scenepress/python')
`;
const lockFile = (name) => join(root, 'renderer', `${name}.lock`);
const pythonStamp = (venv) => join(venv, '.scenepress-lock');
const pythonDevStamp = (venv) => join(venv, '.scenepress-dev-lock');

function pythonStep(venv) {
  return {
    title: 'Building the Python environment',
    done: () => isCurrent(pythonStamp(venv), venv, ['requirements-build', 'requirements']),
    async perform(execute, folder) {
      const beside = fresh(join(folder, 'venv'));
      await execute(choosePython(), ['-m', 'venv', beside], { env: pythonEnvironment() });
      await pip(execute, beside, 'requirements-build');
      await pip(
        execute,
        beside,
        'requirements',
        '--no-build-isolation',
        '--use-pep517',
        `--no-binary=${pythonPackagesFromSource}`,
      );
      await compilePackages(execute, beside);
      relocate(beside, venv);
      stamp(pythonStamp(beside), beside, ['requirements-build', 'requirements']);
      swap(beside, venv, join(folder, 'venv-old'));
    },
  };
}

function pythonDevStep(venv) {
  return {
    title: 'Adding the Python tools for tests',
    done: () => isCurrent(pythonDevStamp(venv), venv, ['requirements', 'requirements-dev']),
    async perform(execute) {
      // Forced, because an interrupted installation leaves packages that seem complete.
      await pip(execute, venv, 'requirements-dev', '--force-reinstall');
      await compilePackages(execute, venv);
      stamp(pythonDevStamp(venv), venv, ['requirements', 'requirements-dev']);
    },
  };
}

function pip(execute, venv, lock, ...args) {
  return execute(
    join(venv, 'bin', 'python'),
    [
      '-m',
      'pip',
      'install',
      '--disable-pip-version-check',
      '--no-input',
      '--no-deps',
      '--no-compile',
      '--require-hashes',
      '--only-binary=:all:',
      ...args,
      `--requirement=${lockFile(lock)}`,
    ],
    // Builds need ninja, meson and cython on the path.
    { env: { ...pythonEnvironment(), PATH: `${join(venv, 'bin')}${delimiter}${outsidePath()}` } },
  );
}

/** Compiles packages with the source paths that renderers see: bytecode contains them, and scenes can read it. */
function compilePackages(execute, venv) {
  return execute(join(venv, 'bin', 'python'), ['-c', compiling, venv], { env: pythonEnvironment() });
}

/** The environment without variables that change the target of Python and pip, or disable bytecode. */
function pythonEnvironment() {
  const env = { ...process.env };
  for (const name of [
    'PIP_NO_BINARY',
    'PIP_ONLY_BINARY',
    'PIP_PREFIX',
    'PIP_REQUIRE_VIRTUALENV',
    'PIP_ROOT',
    'PIP_TARGET',
    'PIP_USER',
    'PYTHONDONTWRITEBYTECODE',
    'PYTHONHOME',
    'PYTHONPATH',
    'PYTHONSAFEPATH',
    'VIRTUAL_ENV',
  ]) {
    delete env[name];
  }
  return env;
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

/** Whether the environment was built from these locks with its current interpreter. */
function isCurrent(stampPath, venv, locks) {
  const found = read(stampPath);
  return found !== undefined && found === stampText(venv, locks);
}

function stamp(stampPath, venv, locks) {
  writeFileSync(stampPath, stampText(venv, locks));
}

function stampText(venv, locks) {
  let interpreter;
  try {
    interpreter = realpathSync(join(venv, 'bin', 'python'));
  } catch {
    return undefined;
  }
  return [interpreter, ...locks.map((lock) => hashOf(lockFile(lock)))].join('\n');
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

// --- Helpers -------------------------------------------------------------------------------------------

function once(compute) {
  let value;
  const get = () => {
    value ??= compute();
    return value;
  };
  get.forget = () => {
    value = undefined;
  };
  return get;
}

const quoted = (text) => text.replace(/[.+]/g, '\\$&');

const hashOf = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function fresh(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Replaces `place` by `made` with a rename, and removes the old content. */
function swap(made, place, old) {
  rmSync(old, { recursive: true, force: true });
  if (existsSync(place)) renameSync(place, old);
  renameSync(made, place);
  rmSync(old, { recursive: true, force: true });
}

/** The search path without the programs of this checkout, which are about to be replaced. */
function outsidePath() {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== nodeModules && !folder.startsWith(nodeModules + sep))
    .join(delimiter);
}

function findProgram(name) {
  for (const folder of (process.env.PATH || '/usr/local/bin:/usr/bin:/bin').split(delimiter)) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // Try the next folder.
    }
  }
  return undefined;
}

// --- Command line --------------------------------------------------------------------------------------

/** @param {string[]} args arguments of the command; sets the exit code to 1 on failure */
export async function main(args) {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    return fail(`The setup of Scenepress needs Node 20 or newer; this is ${process.version}.`);
  }
  const options = {};
  const rest = [...args];
  while (rest.length > 0) {
    const arg = rest.shift();
    if (arg === '--dev') options.dev = true;
    else if (arg === '--no-system') options.system = false;
    else if (arg === '--python-only' && rest.length > 0) options.pythonOnly = rest.shift();
    else if (arg === '--help') return process.stdout.write(usage);
    else return fail(`Unknown option or missing value: ${arg}\n\n${usage}`);
  }
  try {
    await setUp(options);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    fail(error.message);
  }
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(process.argv.slice(2));
}
