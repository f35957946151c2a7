import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { findProgram } from './files.mjs';
import { execute } from './run.mjs';

/**
 * Debian package → a program whose presence shows, on other systems, that it is installed.
 * If a package has none (headers, TeX styles), the step that needs it reports its absence.
 */
export const SYSTEM_PACKAGES = {
  run: {
    'python3-venv': 'python3',
    'texlive-latex-base': 'latex',
    'texlive-latex-recommended': undefined,
    'texlive-latex-extra': undefined,
    'texlive-fonts-recommended': undefined,
    // Packages of Manim's template libraries and lessons: physics, siunitx, esvect, fontawesome5, ctex and others.
    'texlive-fonts-extra': undefined,
    'texlive-science': undefined,
    'texlive-plain-generic': undefined,
    'texlive-lang-chinese': undefined,
    'texlive-lang-polish': undefined,
    'texlive-luatex': 'lualatex',
    'texlive-xetex': 'xelatex',
    tipa: undefined,
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
  // Tests open the dashboard in a browser, run the manual's webhook verifiers in their languages, trace disk writes to
  // simulate power failures, and start a Postgres server, whose programs Debian keeps off the PATH.
  dev: {
    chromium: 'chromium',
    ffmpeg: 'ffprobe',
    'golang-go': 'go',
    openssl: 'openssl',
    'php-cli': 'php',
    postgresql: 'postgres',
    strace: 'strace',
  },
  // The single executable is only built and tested on Debian.
  binary: { iproute2: 'ip', mmdebstrap: 'mmdebstrap', zstd: 'zstd' },
};

/** The package database and lists of Debian and its derivatives, and who may change them. */
const THIS_MACHINE = {
  status: '/var/lib/dpkg/status',
  lists: '/var/lib/apt/lists',
  isRoot: process.getuid?.() === 0,
};

/**
 * Installs Debian packages as root; elsewhere, or as another user, names what is missing.
 *
 * @param {object} options
 * @param {boolean} options.dev also those of tests and checks
 * @param {boolean} options.build also those that build the Python environment
 * @param {boolean} [options.installs] false: only names what is missing, also as root
 * @param {typeof THIS_MACHINE} [options.machine]
 * @returns {import('./step.mjs').Step}
 */
export function systemPackages({ dev, build, installs = true, machine = THIS_MACHINE }) {
  const debian = existsSync(machine.status) && findProgram('apt-get') !== undefined;
  const needed = {
    ...SYSTEM_PACKAGES.run,
    ...(build ? SYSTEM_PACKAGES.build : {}),
    ...(dev ? notOnPath(SYSTEM_PACKAGES.dev) : {}),
    ...(dev && debian ? notOnPath(SYSTEM_PACKAGES.binary) : {}),
  };
  const missing = () => (debian ? notInstalled(needed, machine.status) : Object.keys(notOnPath(needed)));
  return {
    title: 'Installing system packages',
    source: 'the package mirror',
    isDone: () => missing().length === 0,
    refusal() {
      if (!debian) return missingPrograms(missing().map((name) => needed[name]));
      return installs && machine.isRoot ? undefined : missingPackages(missing());
    },
    async take(run) {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
      const apt = (...args) => execute(run, 'apt-get', ['-o', 'DPkg::Lock::Timeout=600', ...args], { env });
      const install = () => apt('install', '--yes', '--no-install-recommends', ...missing());
      if (!hasPackageLists(machine.lists)) await apt('update');
      try {
        await install();
      } catch {
        // An earlier installation was interrupted, or the package lists are outdated.
        await execute(run, 'dpkg', ['--configure', '-a', '--force-confdef'], { env });
        await apt('update');
        await install();
      }
    },
  };
}

/** The packages whose programs are missing: only tests call these, from whichever package they are. */
function notOnPath(packages) {
  return Object.fromEntries(
    Object.entries(packages).filter(([, program]) => program && !findProgram(program)),
  );
}

function notInstalled(needed, statusPath) {
  const status = readFileSync(statusPath, 'utf8');
  return Object.keys(needed).filter(
    (name) => !status.match(new RegExp(`^Package: ${quoted(name)}\nStatus: \\w+ ok installed$`, 'm')),
  );
}

const quoted = (text) => text.replace(/[.+]/g, '\\$&');

function hasPackageLists(folder) {
  try {
    return readdirSync(folder).some((name) => name.includes('_Packages'));
  } catch {
    return false;
  }
}

function missingPackages(names) {
  return [
    'Some system packages are missing. Install them as root:',
    '',
    `  sudo apt-get update && sudo apt-get install --no-install-recommends ${names.join(' ')}`,
    '',
    'Then try again (with `scenepress setup --no-system`, if they are installed in another way).',
  ].join('\n');
}

function missingPrograms(programs) {
  return [
    `Some programs are missing: ${programs.join(', ')}.`,
    'Please install Python 3.11 or newer with its headers, a C compiler, pkg-config, the development files',
    'of cairo and pango, TeX Live (LaTeX, XeTeX and LuaTeX with all packages of LaTeX), dvisvgm, bubblewrap,',
    'libseccomp, and fonts (Noto Sans and Serif, DejaVu, Latin Modern, WenQuanYi Zen Hei, Symbola), then run this',
    'again.',
  ].join('\n');
}
