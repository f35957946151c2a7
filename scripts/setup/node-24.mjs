import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fresh } from './files.mjs';
import { npm } from './npm.mjs';

/**
 * Repairs the Node 24 in `node_modules`, for example after `npm ci` by hand with a Node that is older.
 *
 * @param {string} root
 * @param {{ needsAll: boolean, after: import('./step.mjs').Step[] }} options needsAll: the development packages are there
 * @returns {import('./step.mjs').Step}
 */
export function node24(root, { needsAll, after }) {
  const nodeModules = join(root, 'node_modules');
  return {
    title: 'Installing Node 24',
    source: 'the npm registry',
    after,
    isDone: () =>
      !existsSync(join(root, 'package-lock.json')) ||
      runsOn(process.version, { needsAll }) ||
      isNode24(join(nodeModules, '.bin', 'node')),
    take: async (run) => placeNode(await fetchNode(run, root), nodeModules),
  };
}

/** Whether the service runs on this version of Node. Builds and tests need 24, whatever is newer. */
export function runsOn(version, { needsAll }) {
  return !needsAll && Number.parseInt(version.slice(1), 10) >= 24;
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
 * Downloads the Node of `package-lock.json`, and returns its path.
 *
 * A robust replacement of the install script of the npm package `node`, which starts a second npm inside
 * node_modules, is skipped by newer versions of npm, and leaves a broken link behind when interrupted.
 *
 * @param {import('./run.mjs').Run} run
 * @param {string} root
 */
export async function fetchNode(run, root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const { version } = packages['node_modules/node'];
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  const name = `${prefix}-${process.platform}-${process.arch}`;

  const beside = fresh(join(run.folder, 'node'));
  writeFileSync(join(beside, 'package.json'), '{ "private": true }\n');
  copyFileSync(join(root, '.npmrc'), join(beside, '.npmrc'));
  await npm(run, beside, 'install', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`);

  const made = join(beside, 'node_modules', name, 'bin', 'node');
  chmodSync(made, 0o755);
  if (!isNode24(made)) throw new Error(`${name}@${version} doesn't run on this machine`);
  const kept = join(run.folder, 'node-24');
  renameSync(made, kept);
  rmSync(beside, { recursive: true });
  return kept;
}

/** Moves a downloaded Node to its place in `modules`, a folder node_modules. */
export function placeNode(made, modules) {
  const place = join(modules, 'node', 'bin', 'node');
  mkdirSync(dirname(place), { recursive: true });
  renameSync(made, place);
  const link = join(modules, '.bin', 'node');
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(join('..', 'node', 'bin', 'node'), link);
}
