import { execFile } from 'node:child_process';
import { chmod, mkdir, open, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ScenepressError } from '../../base/errors.ts';
import { librariesOf, loaderOf, onMachine, type RendererRoot } from './renderer-root.ts';

/** Settings for running programs of a tree that cannot be mounted as `/`. */
export interface Relocation {
  /** Variables for the renderer and its child processes. */
  environment: Record<string, string>;
  /** Readable paths besides the tree. */
  readable: string[];
}

const run = promisify(execFile);
const PROGRAMS = '/usr/bin';
const SHELL = '/usr/bin/dash';
const TEX_SETTINGS = '/etc/texmf/web2c';
const MAGIC_BYTES = 4;
/** The part of a script's first line that Linux reads. */
const FIRST_LINE_BYTES = 255;
/** TeX's folders in the tree, by setting. */
const TEX_FOLDERS: Record<string, string> = {
  TEXMFROOT: '/usr/share/texlive',
  TEXMFDIST: '/usr/share/texlive/texmf-dist',
  TEXMFDEBIAN: '/usr/share/texmf',
  TEXMFSYSVAR: '/var/lib/texmf',
  TEXMFSYSCONFIG: '/etc/texmf',
  TEXMFLOCAL: '/usr/local/share/texmf',
};

/**
 * Writes the relocation files of a tree to a folder, which readers must be able to enter. Error:
 * `renderer_unavailable` when programs cannot be executed from that folder, or its path is too long.
 */
export async function relocate(root: RendererRoot, folder: string): Promise<Relocation> {
  const programs = join(folder, 'bin');
  await mkdir(programs, { recursive: true });
  await writePrograms(root, programs);
  await writeFile(join(folder, 'texmf.cnf'), texSettings(root));
  const fonts = join(folder, 'fonts.conf');
  await writeFile(fonts, fontSettings(root, folder));
  const environment = {
    PATH: programs,
    // For interpreters of scripts, which cannot get the library path on the command line.
    LD_LIBRARY_PATH: librariesOf(root),
    PYTHONHOME: onMachine(root, '/usr'),
    FONTCONFIG_FILE: fonts,
    TEXMFCNF: [
      folder,
      onMachine(root, TEX_SETTINGS),
      onMachine(root, '/usr/share/texlive/texmf-dist/web2c'),
    ].join(':'),
  };
  await run(join(programs, 'fc-cache'), ['--system-only'], { env: environment }).catch((cause) => {
    if (cause.code !== 'EACCES') throw cause;
    throw new ScenepressError(
      'renderer_unavailable',
      `In the reduced sandbox renders start programs from ${folder}, and the system forbids that (EACCES). If its file ` +
        'system is mounted noexec, mount it with exec (in Docker: --tmpfs PLACE:exec), or use a data folder elsewhere.',
      { cause },
    );
  });
  return { environment, readable: [folder] };
}

/** Writes a wrapper script per program, which starts it with the loader of the tree. */
async function writePrograms(root: RendererRoot, folder: string): Promise<void> {
  const loader = loaderOf(root);
  const shell = onMachine(root, SHELL);
  const firstLine = `#!${loader} ${shell}`;
  if (Buffer.byteLength(firstLine) > FIRST_LINE_BYTES) {
    throw new ScenepressError(
      'renderer_unavailable',
      `The path of the renderer is too long for the reduced sandbox: ${root.tree}. Put it into a folder with a shorter path.`,
    );
  }
  for (const name of await readdir(onMachine(root, PROGRAMS))) {
    const program = onMachine(root, `${PROGRAMS}/${name}`);
    const kind = await kindOf(program);
    if (kind === 'other') continue;
    const start =
      kind === 'binary' ? `"${loader}" --argv0 "$0" "${program}"` : `"${loader}" "${shell}" "${program}"`;
    const path = join(folder, name);
    await writeFile(path, `${firstLine}\nexec ${start} "$@"\n`);
    await chmod(path, 0o755);
  }
}

async function kindOf(program: string): Promise<'binary' | 'script' | 'other'> {
  const file = await open(program).catch(() => undefined);
  if (!file) return 'other';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    if (buffer.subarray(0, MAGIC_BYTES).equals(Buffer.from('\x7fELF'))) return 'binary';
    return /^#! ?\/bin\/(ba)?sh\b/.test(buffer.toString('latin1', 0, bytesRead)) ? 'script' : 'other';
  } finally {
    await file.close();
  }
}

function texSettings(root: RendererRoot): string {
  return Object.entries(TEX_FOLDERS)
    .map(([name, path]) => `${name} = ${onMachine(root, path)}\n`)
    .join('');
}

function fontSettings(root: RendererRoot, folder: string): string {
  const at = (path: string) => escaped(onMachine(root, path));
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${at('/usr/share/fonts')}</dir>
  <dir>${at('/usr/share/texmf/fonts/opentype')}</dir>
  <dir prefix="xdg">fonts</dir>
  <include ignore_missing="yes">${at('/etc/fonts/conf.d')}</include>
  <cachedir>${escaped(join(folder, 'fontconfig'))}</cachedir>
</fontconfig>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
