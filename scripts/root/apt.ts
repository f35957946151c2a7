import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildError } from './build-error.ts';

/** A Debian package as listed in a package index. */
export interface Deb {
  name: string;
  version: string;
  architecture: string;
  sha256: string;
}

/** Base URLs of the main archive and of the security archive. */
export interface Mirrors {
  main: string;
  security: string;
}

const SUITE = 'trixie';
const ARCHITECTURE = 'amd64';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const OUTPUT_BYTES_MAX = 1024 * 1024 * 1024;

/** The Debian mirrors in the apt configuration of this machine. */
export function configuredMirrors(): Mirrors {
  let lines: string[];
  try {
    const format = '$(ORIGIN) $(RELEASE) $(REPO_URI)';
    lines = run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages']).split('\n');
  } catch (cause) {
    throw new BuildError(`Can't read the mirrors from the apt configuration: ${(cause as Error).message}`);
  }
  const uris = (isIt: (release: string) => boolean) =>
    lines
      .map((line) => line.split(' '))
      .filter(([origin, release]) => origin === 'Debian' && isIt(release ?? ''))
      .map(([, , uri]) => uri);
  const main = uris((release) => !release.includes('-'))[0];
  const security = uris((release) => release.endsWith('-security'))[0];
  if (main && security) return { main, security };
  throw new BuildError(
    'The apt configuration of this machine has no Debian mirror with security updates. Run `apt-get update`, or set ' +
      'the mirrors with --mirror URL and --security-mirror URL.',
  );
}

/** apt with its own lists, cache and state, as if nothing were installed. */
export class Apt {
  readonly #folder: string;
  readonly #mirrors: Mirrors;

  constructor({ folder, mirrors }: { folder: string; mirrors: Mirrors }) {
    this.#folder = folder;
    this.#mirrors = mirrors;
  }

  /** Fetches the package lists and verifies their signatures. */
  update(): void {
    for (const name of ['lists/partial', 'cache/archives/partial']) {
      mkdirSync(join(this.#folder, name), { recursive: true });
    }
    writeFileSync(join(this.#folder, 'status'), '');
    const { main, security } = this.#mirrors;
    writeFileSync(
      join(this.#folder, 'debian.sources'),
      `${source(main, [SUITE, `${SUITE}-updates`])}\n${source(security, [`${SUITE}-security`])}`,
    );
    this.#apt('apt-get', 'update', '-qq');
  }

  /** Resolves the packages that an installation of the named and all essential packages would install. */
  resolve(names: string[]): Deb[] {
    const plan = this.#apt(
      'apt-get',
      'install',
      '-qq',
      '--simulate',
      '--no-install-recommends',
      '?essential',
      ...names,
    );
    const found = [...plan.matchAll(/^Inst (\S+) \((\S+) .*\[(\S+)\]\)/gm)];
    const index = this.index();
    return found.map(([, name, version]) => {
      const deb = index.get(`${name} ${version}`);
      if (!deb) throw new BuildError(`${name} ${version} is required, but missing in all package lists.`);
      return deb;
    });
  }

  /** All packages of the mirrors, by "name version". */
  index(): Map<string, Deb> {
    const index = new Map<string, Deb>();
    const files = this.#apt(
      'apt-get',
      'indextargets',
      '--format',
      '$(FILENAME)',
      'Created-By: Packages',
    ).split('\n');
    for (const file of files.filter((name) => name && existsSync(name))) {
      for (const paragraph of this.#apt('/usr/lib/apt/apt-helper', 'cat-file', file).split('\n\n')) {
        const field = (name: string) => paragraph.match(new RegExp(`^${name}: (.*)$`, 'm'))?.[1] ?? '';
        const deb: Deb = {
          name: field('Package'),
          version: field('Version'),
          architecture: field('Architecture'),
          sha256: field('SHA256'),
        };
        index.set(`${deb.name} ${deb.version}`, deb);
      }
    }
    return index;
  }

  /** Fetches missing packages into a folder and verifies the hashes of all. Returns their paths. */
  download(debs: Deb[], folder: string): string[] {
    mkdirSync(folder, { recursive: true });
    const pathOf = (deb: Deb) => join(folder, fileName(deb));
    const missing = debs.filter((deb) => !isIntact(pathOf(deb), deb));
    for (const deb of missing) rmSync(pathOf(deb), { force: true });
    if (missing.length > 0) {
      const names = missing.map(({ name, version, architecture }) =>
        architecture === 'all' ? `${name}=${version}` : `${name}:${architecture}=${version}`,
      );
      this.#apt('apt-get', 'download', '-qq', ...names);
    }
    const broken = missing.filter((deb) => !isIntact(pathOf(deb), deb));
    if (broken.length > 0) {
      throw new BuildError(
        `These packages don't match the lock: ${broken.map((deb) => deb.name).join(', ')}.`,
      );
    }
    return debs.map(pathOf);
  }

  #apt(program: string, ...args: string[]): string {
    const settings = {
      'Dir::Etc::SourceList': join(this.#folder, 'debian.sources'),
      'Dir::Etc::SourceParts': '/dev/null',
      'Dir::State': this.#folder,
      'Dir::State::Lists': join(this.#folder, 'lists'),
      'Dir::State::Status': join(this.#folder, 'status'),
      'Dir::Cache': join(this.#folder, 'cache'),
      'APT::Architecture': ARCHITECTURE,
      'APT::Architectures': ARCHITECTURE,
      'APT::Sandbox::User': 'root',
      'Acquire::Languages': 'none',
    };
    const given = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    const cwd = args[0] === 'download' ? join(this.#folder, '../debs') : this.#folder;
    return run(program, [...given, ...args], cwd);
  }
}

/** File name used by `apt-get download`. */
export function fileName({ name, version, architecture }: Deb): string {
  return `${name}_${version.replaceAll(':', '%3a')}_${architecture}.deb`;
}

function isIntact(path: string, { sha256 }: Deb): boolean {
  return existsSync(path) && createHash('sha256').update(readFileSync(path)).digest('hex') === sha256;
}

function source(uri: string, suites: string[]): string {
  return `Types: deb\nURIs: ${uri}\nSuites: ${suites.join(' ')}\nComponents: main\nSigned-By: ${KEYRING}\n`;
}

function run(program: string, args: string[], cwd?: string): string {
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
