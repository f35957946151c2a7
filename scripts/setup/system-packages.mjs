import { existsSync } from 'node:fs';
import {
  aptDetail,
  damagedPackages,
  downloadPackages,
  installedPackages,
  installPackages,
  isInterrupted,
} from './apt.mjs';
import { findProgram } from './files.mjs';

/**
 * Debian package → a program whose presence shows, on other systems, that it is installed.
 * If a package has none (headers, TeX styles), the step that needs it reports its absence.
 */
export const SYSTEM_PACKAGES = {
  python: { 'python3-venv': 'python3' },
  run: {
    // Those that Manim's own template needs, and most formulas.
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
  // Packages of Manim's template libraries and lessons: physics, siunitx, esvect, fontawesome5, ctex and others. A
  // service can install them while it already renders; none of them changes the fonts of `Text`.
  moreTex: {
    'texlive-fonts-extra': undefined,
    'texlive-science': undefined,
    'texlive-plain-generic': undefined,
    'texlive-lang-chinese': undefined,
    'texlive-lang-polish': undefined,
    'texlive-luatex': 'lualatex',
    'texlive-xetex': 'xelatex',
    tipa: undefined,
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

const THIS_MACHINE = {
  status: '/var/lib/dpkg/status',
  lists: '/var/lib/apt/lists',
  isRoot: process.getuid?.() === 0,
};

/**
 * Installs Debian packages as root; elsewhere, or as another user, names all that are missing. One step after the other:
 * those that Python needs, the compilers, and the rest.
 *
 * @param {object} options
 * @param {string} options.folder of the run
 * @param {boolean} [options.dev] also those of tests and checks
 * @param {boolean} options.build also those that build the Python environment
 * @param {boolean} [options.moreTex] also those of TeX that few scenes need
 * @param {boolean} [options.installs] false: only names what is missing, also as root
 * @param {import('./apt.mjs').AptMachine} [options.machine]
 * @returns {{ python: import('./step.mjs').Step, compilers: import('./step.mjs').Step, rest: import('./step.mjs').Step }}
 */
export function systemPackages({
  folder,
  dev = false,
  build,
  moreTex = true,
  installs = true,
  machine = THIS_MACHINE,
}) {
  const debian = existsSync(machine.status) && findProgram('apt-get') !== undefined;
  const { python, build: compilers, run, moreTex: more, dev: tests, binary } = SYSTEM_PACKAGES;
  const rest = {
    ...run,
    ...(moreTex ? more : {}),
    ...(dev ? notOnPath(tests) : {}),
    ...(dev && debian ? notOnPath(binary) : {}),
  };
  const missingOf = (needed) => (debian ? notInstalled(needed, machine) : Object.keys(notOnPath(needed)));
  const needed = { ...python, ...(build ? compilers : {}), ...rest };
  const step = (title, packages, after) => ({
    title,
    source: 'the package mirror',
    after,
    detail: aptDetail,
    isDone: () =>
      missingOf(packages).length === 0 && !(debian && damagedPackages(folder, machine).length > 0),
    refusal() {
      if (!debian) return missingPrograms(missingOf(needed).map((name) => needed[name]));
      return installs && machine.isRoot ? undefined : missingPackages(missingOf(needed));
    },
    take: (run) => installPackages(run, missingOf(packages), machine),
  });
  const first = step('Installing Python', python, []);
  const second = step('Installing compilers', build ? compilers : {}, [first]);
  const title = dev ? 'Installing TeX, fonts and programs for tests' : 'Installing TeX and fonts';
  return { python: first, compilers: second, rest: step(title, rest, [first, second]) };
}

/** Whether this process can install TeX packages while a service renders. */
export function canInstall(machine = THIS_MACHINE) {
  return machine.isRoot && existsSync(machine.status) && findProgram('apt-get') !== undefined;
}

/** Whether TeX packages are missing that a service can install while it renders. */
export function lacksMoreTex(machine = THIS_MACHINE) {
  return canInstall(machine) && notInstalled(SYSTEM_PACKAGES.moreTex, machine).length > 0;
}

/**
 * Installs them.
 *
 * @param {object} options
 * @param {string} options.folder of the run
 * @param {() => void} options.onDownload called before the download
 * @param {() => void} options.onInstall called before dpkg changes TeX
 * @param {() => void} options.onInstalled called when it no longer does
 * @param {import('./apt.mjs').AptMachine} [options.machine]
 * @returns {import('./step.mjs').Step}
 */
export function moreTexPackages({ folder, onDownload, onInstall, onInstalled, machine = THIS_MACHINE }) {
  const missing = () => notInstalled(SYSTEM_PACKAGES.moreTex, machine);
  return {
    title: 'Installing more TeX packages',
    source: 'the package mirror',
    detail: aptDetail,
    isDone: () => missing().length === 0 && damagedPackages(folder, machine).length === 0,
    async take(run) {
      if (!isInterrupted()) {
        onDownload();
        await downloadPackages(run, missing(), machine);
      }
      onInstall();
      await installPackages(run, missing(), machine);
      onInstalled();
    },
  };
}

/** The packages whose programs are missing: only tests call these, from whichever package they are. */
function notOnPath(packages) {
  return Object.fromEntries(
    Object.entries(packages).filter(([, program]) => program && !findProgram(program)),
  );
}

function notInstalled(needed, machine) {
  const installed = installedPackages(machine);
  return Object.keys(needed).filter((name) => !installed.has(name));
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
