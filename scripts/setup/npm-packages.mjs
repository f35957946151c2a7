import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fresh, hashOf, read, swap } from './files.mjs';
import { fetchNode, placeNode } from './node-24.mjs';
import { npm } from './npm.mjs';

const STAMP = '.scenepress-lock';

/**
 * Installs the packages of `package-lock.json`, with Node 24, in `node_modules`.
 *
 * @param {string} root
 * @returns {import('./step.mjs').Step}
 */
export function npmPackages(root) {
  const lock = join(root, 'package-lock.json');
  const nodeModules = join(root, 'node_modules');
  return {
    title: 'Installing npm packages',
    source: 'the npm registry',
    // A package installed from the registry has no lock; its dependencies are installed by npm.
    isDone: () => !existsSync(lock) || read(join(nodeModules, STAMP)) === hashOf(lock),
    async take(run) {
      const beside = fresh(join(run.folder, 'npm'));
      for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
        copyFileSync(join(root, file), join(beside, file));
      }
      // One request, before hundreds: without a network it fails within seconds.
      const node = await fetchNode(run, root);
      // Only `node` needs an install script, which is replaced.
      // --include=dev: NODE_ENV=production would omit the development packages, including Node 24.
      await npm(run, beside, 'ci', '--include=dev', '--ignore-scripts');
      const made = join(beside, 'node_modules');
      placeNode(node, made);
      writeFileSync(join(made, STAMP), hashOf(join(beside, 'package-lock.json')));
      swap(made, nodeModules, join(run.folder, 'npm-old'));
      rmSync(beside, { recursive: true });
    },
  };
}
