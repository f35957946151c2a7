/**
 * Builds the renderer root: Python, Manim, TeX, fonts and bubblewrap in one folder tree, as a compressed archive.
 *
 *   npm run build:root [-- --accept-newer] [--compression 3] [--mirror URL --security-mirror URL] [--output FOLDER]
 *
 * Contains exactly the packages in `renderer/debian.lock` and `renderer/requirements*.lock`. An existing root that
 * was built from the same inputs is reused.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { TEX_SOURCES } from '../setup/index.mjs';
import { Apt, type Deb, fileName } from './apt.ts';
import { BuildError } from './build-error.ts';
import { commandLine, type RootOptions } from './command-line.ts';
import { EPOCH_SECONDS } from './epoch.ts';
import { newestPackages } from './lock.ts';
import { type FetchedDeb, type LockedDeb, readLock } from './lock-file.ts';
import { BUILD_PACKAGES, ROOT_PACKAGES } from './packages.ts';

/** Paths of a built root and its lists. */
export interface BuiltRoot {
  archive: string;
  manifest: string;
  notices: string;
  /** Disk space of the unpacked root. */
  unpackedBytes: number;
}

const RENDERER = join(import.meta.dirname, '../../renderer');
const NATIVE = join(RENDERER, 'native');
const CODENAME = 'trixie';

export function buildRoot(options: RootOptions): BuiltRoot {
  const output = resolve(options.output);
  const cache = resolve(options.cache);
  const locked = readLock();
  let name = rootName(locked, options.compression);
  const apt = new Apt({ folder: join(cache, 'apt'), mirrors: options.mirrors });
  if (!isBuilt(output, name)) {
    apt.update();
    const debs = available(apt, cache, locked, options.acceptNewer);
    name = rootName(debs, options.compression);
    if (!isBuilt(output, name)) build({ output, cache, debs, name, apt, compression: options.compression });
  }
  const manifest = join(output, `${name}.json`);
  const { unpackedBytes } = JSON.parse(readFileSync(manifest, 'utf8')) as { unpackedBytes: number };
  return {
    archive: join(output, `${name}.tar.zst`),
    manifest,
    notices: join(output, `${name}.txt`),
    unpackedBytes,
  };
}

function isBuilt(output: string, name: string): boolean {
  return existsSync(join(output, `${name}.tar.zst`));
}

/** The name of a root, with a hash of all its inputs. */
export function rootName(debs: LockedDeb[], compression: number): string {
  const hash = createHash('sha256');
  for (const { stage, name, version, sha256, licence } of debs) {
    hash.update([stage, name, version, sha256, licence].join(' '));
  }
  for (const lock of ['requirements-build.lock', 'requirements.lock']) {
    hash.update(readFileSync(join(RENDERER, lock)));
  }
  for (const source of nativeSources()) hash.update(readFileSync(source));
  for (const name of TEX_SOURCES) hash.update(readFileSync(join(RENDERER, 'scene_renderer', name)));
  for (const script of readdirSync(import.meta.dirname).sort()) {
    hash.update(readFileSync(join(import.meta.dirname, script)));
  }
  return `root-${hash.digest('hex').slice(0, 16)}-z${compression}`;
}

/** Hash of the inputs of the built Python packages. */
function pythonHash(debs: LockedDeb[]): string {
  const inputs = [
    ...['requirements-build.lock', 'requirements.lock'].map((name) => join(RENDERER, name)),
    join(import.meta.dirname, 'build-python.sh'),
    ...nativeSources(),
  ];
  const versions = debs
    .filter(({ stage }) => stage !== 'notices')
    .map(({ name, version, sha256 }) => `${name} ${version} ${sha256}`);
  return hashOf([...versions, ...inputs.map((path) => readFileSync(path, 'utf8'))].join('\n')).slice(0, 16);
}

/** The files of the native sources, with headers. */
function nativeSources(): string[] {
  return readdirSync(NATIVE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** The locked packages, or the newest ones if the mirror lacks some and `acceptNewer` is set. */
function available(apt: Apt, cache: string, locked: LockedDeb[], acceptNewer: boolean): LockedDeb[] {
  const index = apt.index();
  const downloaded = (deb: Deb) => existsSync(join(cache, 'debs', fileName(deb)));
  const gone = locked.filter((deb) => !index.has(`${deb.name} ${deb.version}`) && !downloaded(deb));
  if (gone.length === 0) return locked;
  const names = gone.map(({ name, version }) => `${name} ${version}`).join(', ');
  if (!acceptNewer) {
    throw new BuildError(
      `The mirror no longer has these packages: ${names}.\n` +
        'Lock the newer ones with `npm run lock:root`, review the changes and build again, or build with the newest ' +
        'packages: --accept-newer.',
    );
  }
  console.warn(
    `\n!!! THIS BUILD DOES NOT MATCH THE LOCK: the mirror no longer has ${names}.\n` +
      '!!! The root contains the newest packages instead. Run `npm run lock:root` to lock them.\n',
  );
  return newestPackages(apt, cache);
}

function build(job: {
  output: string;
  cache: string;
  debs: LockedDeb[];
  name: string;
  apt: Apt;
  compression: number;
}): void {
  assertTools();
  mkdirSync(job.output, { recursive: true });
  const work = mkdtempSync(join(job.output, 'work-'));
  try {
    const paths = job.apt.download(job.debs, join(job.cache, 'debs'));
    const repository = makeRepository(join(work, 'repository'), paths);
    const python = join(job.cache, `python-${pythonHash(job.debs)}.tar`);
    if (!existsSync(python)) {
      const made = join(work, 'python.tar');
      step('Building the Python packages', () => buildPython(repository, made, job.cache));
      renameSync(made, python);
    }
    const fetched = job.debs.map((deb, index): FetchedDeb => ({ ...deb, path: paths[index] as string }));
    writeFileSync(join(work, 'packages.json'), JSON.stringify(fetched));
    const made = join(work, `${job.name}.tar.zst`);
    step('Building the root', () => {
      const finish = [process.execPath, join(import.meta.dirname, 'finish.ts')].map(quoted).join(' ');
      const environment = `OUT=${quoted(made)} WORK=${quoted(work)} PYTHON=${quoted(python)} LEVEL=${job.compression}`;
      bootstrap(repository, ROOT_PACKAGES, [`--customize-hook=${environment} ${finish} "$1"`]);
    });
    renameSync(join(work, 'manifest.json'), join(job.output, `${job.name}.json`));
    renameSync(join(work, 'THIRD-PARTY.txt'), join(job.output, `${job.name}.txt`));
    renameSync(made, join(job.output, basename(made)));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function assertTools(): void {
  const missing = ['mmdebstrap', 'dpkg-deb', 'zstd', 'tar'].filter(
    (tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0,
  );
  if (missing.length === 0) return;
  throw new BuildError(
    `These programs are required to build the renderer root: ${missing.join(', ')}.\n` +
      'On Debian or Ubuntu: sudo apt-get install mmdebstrap zstd',
  );
}

/** Creates a package archive of exactly the locked packages. */
function makeRepository(folder: string, debs: string[]): string {
  mkdirSync(folder, { recursive: true });
  const paragraphs = debs.map((path) => {
    const name = basename(path);
    symlinkSync(path, join(folder, name));
    const fields = execFileSync('dpkg-deb', ['--field', path], { encoding: 'utf8' }).trimEnd();
    return `${fields}\nFilename: ./${name}\nSize: ${statSync(path).size}\nSHA256: ${hashOf(readFileSync(path))}\n`;
  });
  const packages = paragraphs.join('\n');
  writeFileSync(join(folder, 'Packages'), packages);
  const size = Buffer.byteLength(packages);
  writeFileSync(
    join(folder, 'Release'),
    `Suite: ${CODENAME}\nCodename: ${CODENAME}\nArchitectures: amd64 all\nSHA256:\n ${hashOf(packages)} ${size} Packages\n`,
  );
  return folder;
}

/** Installs the Python packages, built from source if necessary, and packs them as a tar, without compilers. */
function buildPython(repository: string, tar: string, cache: string): void {
  const pipCache = join(cache, 'pip');
  mkdirSync(pipCache, { recursive: true });
  const settings = Object.entries(process.env).filter(
    ([name]) => (name.startsWith('PIP_') && name !== 'PIP_FIND_LINKS') || name.endsWith('_proxy'),
  );
  const hooks = [
    ...['requirements-build.lock', 'requirements.lock'].map(
      (name) => `upload ${quoted(join(RENDERER, name))} /tmp/${name}`,
    ),
    `upload ${quoted(join(import.meta.dirname, 'build-python.sh'))} /tmp/build-python.sh`,
    `cp -R ${quoted(NATIVE)} "$1/tmp/native"`,
    // Certificates and pip settings of this machine.
    'mkdir -p "$1/etc/ssl/certs" "$1/tmp/pip-cache"',
    'cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/" 2>/dev/null || true',
    'cp /etc/pip.conf "$1/etc/pip.conf" 2>/dev/null || true',
    `cp -a ${quoted(pipCache)}/. "$1/tmp/pip-cache"`,
    `chroot "$1" env ${settings.map(([name, value]) => quoted(`${name}=${value}`)).join(' ')} SOURCE_DATE_EPOCH=${EPOCH_SECONDS} sh /tmp/build-python.sh`,
    `cp -a --no-preserve=ownership "$1/tmp/pip-cache/." ${quoted(pipCache)}`,
    `tar -C "$1/tmp/python" -cf ${quoted(tar)} .`,
  ];
  bootstrap(
    repository,
    BUILD_PACKAGES,
    hooks.map((hook) => `--customize-hook=${hook}`),
  );
}

/** Installs packages of a repository in a temporary tree; the hooks copy the results out of it. */
function bootstrap(repository: string, packages: string[], hooks: string[]): void {
  const arguments_ = [
    '--quiet',
    '--variant=essential',
    '--architectures=amd64',
    '--format=null',
    '--skip=check/signed-by',
    // No cleanup: the tree is removed after the hooks.
    '--skip=cleanup',
    '--aptopt=Acquire::Languages "none"',
    '--aptopt=APT::Install-Recommends "false"',
    // The tree is temporary: a power cut may damage it.
    '--dpkgopt=force-unsafe-io',
    '--dpkgopt=path-exclude=/usr/share/man/*',
    '--dpkgopt=path-exclude=/usr/share/locale/*',
    '--dpkgopt=path-exclude=/usr/share/info/*',
    '--dpkgopt=path-exclude=/usr/share/doc/*',
    '--dpkgopt=path-include=/usr/share/doc/*/copyright',
    `--include=${packages.join(',')}`,
    ...hooks,
    CODENAME,
    '-',
    `deb [trusted=yes] copy:${repository} ./`,
  ];
  // Other users become root in a namespace that maps their id to root; with mmdebstrap's own mode, their
  // files would belong to the user `nobody`.
  const isRoot = process.getuid?.() === 0;
  const asRoot = 'unshare --user --map-root-user --map-auto --mount --pid --fork --mount-proc'.split(' ');
  const [command = '', ...before] = [...(isRoot ? [] : asRoot), 'mmdebstrap'];
  // Without a network namespace, a new /sys can't be mounted; it isn't needed.
  const mode = ['--mode=root', '--skip=chroot/mount/sys'];
  const { status, error } = spawnSync(command, [...before, ...mode, ...arguments_], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      SOURCE_DATE_EPOCH: String(EPOCH_SECONDS),
      FORCE_SOURCE_DATE: '1',
      // A folder of this machine, which is missing in the tree.
      PIP_FIND_LINKS: undefined,
    },
  });
  if (error || status !== 0) {
    throw new BuildError(
      `mmdebstrap ended with ${error?.message ?? `status ${status}`}. It needs root, or user namespaces and ` +
        'entries of this user in /etc/subuid and /etc/subgid (package uidmap).',
    );
  }
}

function step(title: string, perform: () => void): void {
  const start = performance.now();
  console.log(`${title} …`);
  perform();
  console.log(`${title}: ${Math.round((performance.now() - start) / 1000)} s`);
}

const hashOf = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

if (import.meta.main) {
  try {
    const built = buildRoot(commandLine());
    console.log(`${built.archive}\n${built.manifest}`);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
