import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fresh, hashOf, read, swap } from './files.mjs';
import { fetchNode, placeNode, runsOn } from './node-24.mjs';
import { npm } from './npm.mjs';

const STAMP = '.scenepress-lock';
const ONLY_RUN = 'without development packages';

/**
 * Whether development packages are needed: those of Postgres, S3, builds and tests. Once they are there, they stay.
 *
 * @param {string} root
 * @param {boolean} asked
 */
export function needsAllPackages(root, asked) {
  const stamp = read(join(root, 'node_modules', STAMP));
  return asked || (stamp !== undefined && !stamp.endsWith(ONLY_RUN));
}

/**
 * Installs the packages of `package-lock.json` in `node_modules`, and Node 24 where it is needed.
 *
 * @param {string} root
 * @param {{ needsAll: boolean }} options also development packages
 * @returns {import('./step.mjs').Step}
 */
export function npmPackages(root, { needsAll }) {
  const lock = join(root, 'package-lock.json');
  const nodeModules = join(root, 'node_modules');
  const stamp = () => (needsAll ? hashOf(lock) : `${hashOf(lock)}\n${ONLY_RUN}`);
  return {
    title: 'Installing npm packages',
    source: 'the npm registry',
    // A package installed from the registry has no lock; its dependencies are installed by npm.
    isDone: () => !existsSync(lock) || read(join(nodeModules, STAMP)) === stamp(),
    detail: npmDetail,
    async take(run) {
      const beside = fresh(join(run.folder, 'npm'));
      for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
        copyFileSync(join(root, file), join(beside, file));
      }
      // NODE_ENV and npm's settings would change which packages are installed. Only `node` needs an install script, which
      // is replaced.
      const which = needsAll ? '--include=dev' : '--omit=dev';
      const always = ['--include=prod', '--include=optional', '--ignore-scripts', '--loglevel=http'];
      const [node] = await Promise.all([
        runsOn(process.version, { needsAll }) ? undefined : fetchNode(run, root),
        npm(run, beside, 'ci', which, ...always),
      ]);
      const made = join(beside, 'node_modules');
      if (node) placeNode(node, made);
      writeFileSync(join(made, STAMP), stamp());
      swap(made, nodeModules, join(run.folder, 'npm-old'));
      rmSync(beside, { recursive: true });
    },
  };
}

/** What npm has downloaded so far, by its output. */
function npmDetail(output) {
  const packages = [...output.matchAll(/ http fetch GET 200 \S+\.tgz /g)].length;
  return packages === 0 ? '' : `${packages} packages`;
}
