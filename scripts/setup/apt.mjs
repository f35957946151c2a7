import { spawnSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { read } from './files.mjs';
import { execute } from './run.mjs';

/**
 * The package database and lists of Debian and its derivatives, and who may change them.
 *
 * @typedef {{ status: string, lists: string, isRoot: boolean }} AptMachine
 */

/** Names the boot and the packages before an installation. Removed when all is on the disk. */
const MARK = 'packages-before';
const BOOT = read('/proc/sys/kernel/random/boot_id')?.trim();

/** The names of the packages that are installed. */
export function installedPackages({ status }) {
  const found = readFileSync(status, 'utf8').matchAll(/^Package: (\S+)\nStatus: \w+ ok installed$/gm);
  return new Set([...found].map(([, name]) => name));
}

/**
 * Installs packages. dpkg flushes no file, which takes two thirds of the time for the many small ones of TeX; all are
 * flushed at the end. What a power cut leaves before that, the next installation repairs.
 *
 * @param {import('./run.mjs').Run} run
 * @param {string[]} names
 * @param {AptMachine} machine
 */
export async function installPackages(run, names, machine) {
  const { apt, env } = aptOf(run);
  const mark = join(run.folder, MARK);
  const damaged = damagedPackages(run.folder, machine);
  if (read(mark) === undefined) writeDurably(mark, [BOOT, ...installedPackages(machine)].join('\n'));
  const install = async () => {
    if (damaged.length > 0)
      await apt('install', '--yes', '--reinstall', '--no-install-recommends', ...damaged);
    await apt('install', '--yes', '--no-install-recommends', ...names);
  };
  if (!hasPackageLists(machine.lists)) await apt('update');
  try {
    await install();
  } catch {
    // An earlier installation was interrupted, or the package lists are outdated.
    await execute(run, 'dpkg', ['--configure', '-a', '--force-confdef'], { env });
    await apt('update');
    await install();
  }
  spawnSync('sync', ['--file-system', '/usr', '/var', '/etc']);
  rmSync(mark);
}

/** Downloads packages with all that they need, so that their installation is as short as possible. */
export async function downloadPackages(run, names, machine) {
  const { apt } = aptOf(run);
  const download = () => apt('install', '--yes', '--no-install-recommends', '--download-only', ...names);
  if (!hasPackageLists(machine.lists)) await apt('update');
  try {
    await download();
  } catch {
    await apt('update');
    await download();
  }
}

function aptOf(run) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' };
  const options = [
    '-o',
    'DPkg::Lock::Timeout=600',
    '-o',
    'Dpkg::Options::=--force-unsafe-io',
    '-o',
    'Dpkg::Use-Pty=0',
  ];
  const apt = (...args) => execute(run, 'apt-get', [...options, ...args], { env });
  return { apt, env };
}

/** Whether packages are being installed, or that was interrupted. */
export function isBeingInstalled(folder) {
  return read(join(folder, MARK)) !== undefined;
}

/** Whether dpkg was interrupted, so that apt-get downloads nothing before that is repaired. */
export function isInterrupted() {
  return spawnSync('dpkg', ['--audit'], { encoding: 'utf8' }).stdout !== '';
}

/**
 * The packages whose files may be incomplete, because the machine has been started again before they were flushed.
 *
 * @param {string} folder of the run
 * @param {AptMachine} machine
 */
export function damagedPackages(folder, machine) {
  const [boot, ...before] = read(join(folder, MARK))?.split('\n') ?? [BOOT];
  if (boot === BOOT) return [];
  return [...installedPackages(machine)].filter((name) => !before.includes(name));
}

function writeDurably(path, text) {
  const file = openSync(path, 'w');
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
}

function hasPackageLists(folder) {
  try {
    return readdirSync(folder).some((name) => name.includes('_Packages'));
  } catch {
    return false;
  }
}

/** What apt-get has downloaded and installed so far, by its output. */
export function aptDetail(output) {
  const [, count] = /(\d+) newly installed/.exec(output) ?? [];
  if (count === undefined) return '';
  const sum = (pattern) =>
    [...output.matchAll(pattern)].reduce((total, [, size, unit]) => total + bytesOf(size, unit), 0);
  const all = sum(/^Need to get ([\d.,]+) ([kMG]?)B(?:\/\S+ \wB)? of archives/gm);
  const megabytes = (bytes) => Math.round(bytes / 1e6);
  const setUp = [...output.matchAll(/^Setting up /gm)].length;
  const unpacked = [...output.matchAll(/^Unpacking /gm)].length;
  if (unpacked === 0)
    return `${megabytes(Math.min(all, sum(/^Get:\d+ .* \[([\d.,]+) ([kMG]?)B\]$/gm)))} of ${megabytes(all)} MB`;
  const loaded = all === 0 ? '' : `${megabytes(all)} MB, `;
  const packages = count === '1' ? 'package' : 'packages';
  if (setUp === 0) return `${loaded}${unpacked} of ${count} ${packages} unpacked`;
  return `${loaded}${setUp < Number(count) ? `${setUp} of ${count}` : count} ${packages}`;
}

function bytesOf(size, unit) {
  return Number(size.replaceAll(',', '')) * { '': 1, k: 1e3, M: 1e6, G: 1e9 }[unit];
}
