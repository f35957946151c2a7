import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fresh, outsidePath } from './files.mjs';
import { execute } from './run.mjs';

/** Variables that change the target of Python, pip and uv, or disable bytecode. */
const UNWANTED = [
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
  'UV_COMPILE_BYTECODE',
  'UV_CONFIG_FILE',
  'UV_CONSTRAINT',
  'UV_NO_BINARY',
  'UV_NO_BUILD',
  'UV_OVERRIDE',
  'UV_PROJECT_ENVIRONMENT',
  'UV_SYSTEM_PYTHON',
  'VIRTUAL_ENV',
];
/** Settings of pip, as `pip config list` names them, and what uv calls them. */
const SETTINGS = {
  'index-url': 'UV_DEFAULT_INDEX',
  'extra-index-url': 'UV_INDEX',
  'find-links': 'UV_FIND_LINKS',
  'no-index': 'UV_NO_INDEX',
  'trusted-host': 'UV_INSECURE_HOST',
  cert: 'SSL_CERT_FILE',
  'client-cert': 'SSL_CLIENT_CERT',
  proxy: 'ALL_PROXY',
};

/** The variables of this process without those that change where Python and its installers work. */
export function pythonVariables() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !UNWANTED.includes(name)));
}

/**
 * Fetches uv with the pip of an environment, and returns what installs packages in that environment. It uses the servers
 * that pip is configured to use.
 *
 * @param {import('./run.mjs').Run} run
 * @param {{ venv: string, lock: string }} options lock: the file with the version and the hashes of uv
 * @returns {Promise<(run: import('./run.mjs').Run, requirements: string, ...args: string[]) => Promise<void>>}
 */
export async function fetchUv(run, { venv, lock }) {
  const python = join(venv, 'bin', 'python');
  const env = pythonVariables();
  const folder = fresh(join(run.folder, 'uv'));
  const program = join(folder, 'program');
  const common = ['--disable-pip-version-check', '--no-input'];
  const only = ['--no-deps', '--no-compile', '--require-hashes', '--only-binary=:all:'];
  const pip = [python, '-m', 'pip', ...common];
  await execute(
    run,
    pip[0],
    [...pip.slice(1), 'install', ...only, `--target=${program}`, `--requirement=${lock}`],
    {
      env,
    },
  );
  const settings = uvSettings(
    spawnSync(pip[0], [...pip.slice(1), 'config', 'list'], { env, encoding: 'utf8' }).stdout,
  );
  // Builds that are killed leave files, which the next set-up removes with the folder.
  const [temporary, cache] = [fresh(join(folder, 'tmp')), join(folder, 'cache')];
  const variables = {
    ...settings,
    ...env,
    ...(settings.SSL_CERT_FILE && { SSL_CERT_FILE: settings.SSL_CERT_FILE }),
    TMPDIR: temporary,
    // On the disk of the environment, which gets links to its files.
    UV_CACHE_DIR: cache,
    UV_NO_PROGRESS: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    // Those that pip trusts.
    UV_SYSTEM_CERTS: '1',
    // Builds need ninja, meson and cython on the path.
    PATH: `${join(venv, 'bin')}${delimiter}${outsidePath(run.cwd)}`,
  };
  const always = ['--no-config', '--no-deps', '--require-hashes', `--python=${python}`];
  return (run, requirements, ...args) =>
    execute(
      run,
      join(program, 'bin', 'uv'),
      ['pip', 'install', ...always, ...args, `--requirement=${requirements}`],
      {
        env: variables,
      },
    );
}

/**
 * The variables of uv for the settings of pip.
 *
 * @param {string} list the output of `pip config list`
 * @returns {Record<string, string>}
 */
export function uvSettings(list) {
  const settings = {};
  // Lines such as global.index-url='…' and :env:.find-links='…'; later ones have precedence.
  for (const [, name, text] of list.matchAll(/^[^'"=]*\.([\w-]+)=(['"].*)$/gm)) {
    const variable = SETTINGS[name];
    if (variable === undefined) continue;
    const value = text.slice(1, -1).replaceAll('\\n', ' ').trim();
    if (name !== 'find-links') settings[variable] = value;
    // uv, unlike pip, ends if a folder is missing.
    else settings[variable] = value.split(/\s+/).filter(isThere).join(',');
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== ''));
}

const isThere = (place) => /^\w+:\/\//.test(place) || existsSync(place);

/** Writes the entries of a lock for these packages, and for all others, to files of their own. */
export function splitLock(lock, names, { chosen, others }) {
  const entries = readFileSync(lock, 'utf8').split(/\n(?=\S)/);
  const isChosen = (entry) => names.includes(/^[\w.-]+/.exec(entry)?.[0]);
  writeFileSync(chosen, `${entries.filter(isChosen).join('\n')}\n`);
  writeFileSync(others, `${entries.filter((entry) => !isChosen(entry)).join('\n')}\n`);
}

/** What uv has downloaded and built so far, by its output. */
export function uvDetail(output) {
  const sizes = new Map(
    [...output.matchAll(/^ *Downloading (\S+) \(([\d.]+)([KMG])iB\)/gm)].map(([, name, size, unit]) => [
      name,
      Number(size) * { K: 1 / 1024, M: 1, G: 1024 }[unit],
    ]),
  );
  const building = [...output.matchAll(/^ *Building (\S+)/gm)].length;
  const built = [...output.matchAll(/^ *Built (\S+)/gm)].length;
  const left = building - built;
  if (left > 0) return `building ${left} ${left === 1 ? 'package' : 'packages'}`;
  const loaded = [...output.matchAll(/^ *Downloaded (\S+)/gm)];
  const sum = (values) => Math.round(values.reduce((total, value) => total + value, 0));
  const all = sum([...sizes.values()]);
  if (all === 0) return '';
  const part = sum(loaded.map(([, name]) => sizes.get(name) ?? 0));
  return part === all ? `${all} MB` : `${part} of ${all} MB`;
}
