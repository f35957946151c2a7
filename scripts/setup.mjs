#!/usr/bin/env node
/**
 * Brings everything a checkout needs: system packages, npm packages, Node 24, the Python environment.
 *
 * Runs on Node 20 with nothing installed, so it uses no package and no TypeScript. Each step first looks
 * whether its result is there, which costs milliseconds; results are built beside their place and renamed
 * into it, so a set-up that was killed at any moment is repaired by the next one.
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

Installs what Scenepress needs; does nothing where it is already there.

  --dev               also what the tests and checks need
  --python-only DIR   only system packages and a Python environment in DIR
  --no-system         leave system packages alone and trust that they are there
  --help              this text

SCENEPRESS_SETUP_PYTHON names the Python (3.11 or newer) to build the environment with.
`;

/**
 * Debian package → a program that shows, on other systems, that it is there.
 * Where a package brings none (headers, TeX styles), the step that needs it will say so.
 */
export const systemPackages = {
  run: {
    'python3-venv': 'python3',
    'texlive-latex-base': 'latex',
    'texlive-latex-recommended': undefined,
    'texlive-latex-extra': undefined,
    'texlive-fonts-recommended': undefined,
    dvisvgm: 'dvisvgm',
    // Text falls back from the first of these to the others: Noto for most alphabets, WenQuanYi for Chinese,
    // Japanese and Korean, Symbola for emoji, which have to be outlines: Manim draws no bitmaps.
    'fonts-noto-core': undefined,
    'fonts-dejavu-core': undefined,
    'fonts-lmodern': undefined,
    'fonts-wqy-zenhei': undefined,
    'fonts-symbola': undefined,
    bubblewrap: 'bwrap',
    libseccomp2: undefined,
  },
  // pycairo and ManimPango are published for Linux as source only.
  build: {
    gcc: 'gcc',
    'pkg-config': 'pkg-config',
    'python3-dev': undefined,
    'libcairo2-dev': undefined,
    'libpango1.0-dev': undefined,
  },
  // The manual's verifiers of webhooks are run, each in its language; power cuts need to see what reaches the disk when.
  dev: { ffmpeg: 'ffprobe', 'golang-go': 'go', openssl: 'openssl', 'php-cli': 'php', strace: 'strace' },
  // The single executable is built and tried on Debian only.
  binary: { iproute2: 'ip', mmdebstrap: 'mmdebstrap', zstd: 'zstd' },
};

/** These have no wheels; everything else must come as one, so that nothing else needs a compiler. */
const pythonPackagesFromSource = 'manimpango,pycairo,srt';

export class SetupError extends Error {
  name = 'SetupError';
}

/**
 * @param {object} [options]
 * @param {boolean} [options.dev] also what tests and checks need
 * @param {string} [options.pythonOnly] build only the Python environment, in this folder
 * @param {boolean} [options.system] false: leave system packages alone
 * @param {(text: string) => void} [options.print] takes progress text, parts of lines
 * @returns {Promise<{ python: string, changed: boolean }>} python: the environment's interpreter
 * @throws {SetupError} with a message for people: what failed, and what to do about it
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

  // Others may have to read what root installs: the renderer runs under a uid of its own.
  const umask = process.umask(0o022);
  try {
    const run = openRun(pythonOnly ? `${venv}.setup` : join(root, '.setup'), print);
    for (const step of steps) {
      // Looked at again: another set-up may have done it while this one waited.
      if (!step.done()) await perform(step, run);
    }
  } finally {
    process.umask(umask);
  }
  return { python, changed: true };
}

// --- Running -------------------------------------------------------------------------------------------

/** A folder for lock, log and half-made things, held by one set-up at a time. */
function openRun(folder, print) {
  mkdirSync(folder, { recursive: true });
  // The kernel's own lock, on a descriptor that every program started here inherits: it is free only
  // when the last of them has ended, also when this process is killed and npm lives on for a while.
  const lock = openSync(join(folder, 'lock'), 'a');
  const flock = (...flags) =>
    spawnSync('flock', [...flags, '3'], { stdio: ['ignore', 'ignore', 'ignore', lock] }).status;
  if (flock('--nonblock') === 1) {
    print('Waiting for another set-up to end …\n');
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
    `The whole log: ${run.logPath}`,
  ].join('\n');
}

function tail(path, bytes = 16384) {
  const file = openSync(path, 'r');
  const buffer = Buffer.alloc(bytes);
  const length = readSync(file, buffer, 0, bytes, Math.max(0, statSync(path).size - bytes));
  return buffer.toString('utf8', 0, length);
}

/** Runs a program with its output in the log; rejects unless it ends with 0. */
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
        // An earlier installation was killed half-way, or the lists name what the mirror no longer has.
        await execute('dpkg', ['--configure', '-a', '--force-confdef'], { env });
        await apt('update');
        await install();
      }
      missing.forget();
    },
  };
}

/** Programs that only tests call may come from anywhere. */
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
      'Some system packages are missing, and only root can install them:',
      '',
      `  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing.join(' ')}`,
      '',
      'Then run this again (or with --no-system, if you have them from elsewhere).',
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
    // A package installed from the registry has no lock, and its dependencies are its embedder's affair.
    done: () => !existsSync(join(root, 'package-lock.json')) || read(npmStamp) === lockHash(),
    async perform(execute, folder) {
      const beside = fresh(join(folder, 'npm'));
      for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
        copyFileSync(join(root, file), join(beside, file));
      }
      // Nothing here needs an install script except `node`, whose own is replaced below.
      // NODE_ENV=production would leave the development packages out, and Node 24 with them.
      await npm(execute, beside, 'ci', '--include=dev', '--ignore-scripts');
      const made = join(beside, 'node_modules');
      await installNode(execute, folder, made);
      writeFileSync(join(made, basename(npmStamp)), lockHash());
      swap(made, nodeModules, join(folder, 'npm-old'));
      rmSync(beside, { recursive: true });
    },
  };
}

/** npm, with the npm that started us where there is one, and without what `npm run` adds to the environment. */
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
    // Usually this very process: then it need not be asked.
    if (realpathSync(path) === realpathSync(process.execPath)) return process.version.startsWith('v24.');
  } catch {
    return false;
  }
  return spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout?.startsWith('v24.') === true;
}

/**
 * What the install script of the npm package `node` does, made sturdy: that one starts a second npm inside
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
      // Forced, because a killed installation leaves packages that look whole.
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
    // Builds look for ninja, meson and cython on the path.
    { env: { ...pythonEnvironment(), PATH: `${join(venv, 'bin')}${delimiter}${outsidePath()}` } },
  );
}

/** Bytecode names the files it was made of, and scenes can read it: let it name where renderers see them. */
function compilePackages(execute, venv) {
  return execute(join(venv, 'bin', 'python'), ['-c', compiling, venv], { env: pythonEnvironment() });
}

/** The environment without what would make Python or pip install elsewhere, or leave out the bytecode. */
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
  // The system's first: one in a home folder is out of reach for the uid that renders.
  const names = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];
  const candidates = chosen ? [chosen] : [...names.map((name) => `/usr/bin/${name}`), ...names];
  const check = 'import sys, venv; sys.exit(sys.version_info < (3, 11))';
  const found = candidates.find((path) => spawnSync(path, ['-c', check], { stdio: 'ignore' }).status === 0);
  if (found) return found;
  throw new SetupError(
    chosen
      ? `SCENEPRESS_SETUP_PYTHON is ${chosen}, which is no Python 3.11 or newer.`
      : 'No Python 3.11 or newer was found. Install one, or name it in SCENEPRESS_SETUP_PYTHON.',
  );
}

/** An environment is current when it was made from these locks, by the interpreter that it still points to. */
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

/** Scripts in bin/ name their interpreter by its full path: let them name the place they will stand in. */
function relocate(from, to) {
  for (const name of readdirSync(join(from, 'bin'))) {
    const path = join(from, 'bin', name);
    const stat = lstatSync(path);
    if (!stat.isFile() || stat.size > 65536) continue;
    const text = readFileSync(path, 'latin1');
    if (text.includes(from)) writeFileSync(path, text.replaceAll(from, to), 'latin1');
  }
}

// --- Small things --------------------------------------------------------------------------------------

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

/** Puts `made` in its place in one rename; what stood there goes, and is gone afterwards. */
function swap(made, place, old) {
  rmSync(old, { recursive: true, force: true });
  if (existsSync(place)) renameSync(place, old);
  renameSync(made, place);
  rmSync(old, { recursive: true, force: true });
}

/** The search path without this checkout's own programs: they are about to be replaced. */
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
      // The next folder may have it.
    }
  }
  return undefined;
}

// --- Command line --------------------------------------------------------------------------------------

/** @param {string[]} args what stands behind the command's name; ends the process with 1 when it fails */
export async function main(args) {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    return fail(`Scenepress needs Node 20 or newer to set itself up; this is ${process.version}.`);
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
