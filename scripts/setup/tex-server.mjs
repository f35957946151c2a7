import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf, read } from './files.mjs';
import { execute } from './run.mjs';

const STAMP = '.scenepress-tex-server';
const LIBRARY = 'libscenepress_fork_at.so';

/**
 * Compiles the library that turns LaTeX into a server, beside the Python packages in `venv`.
 *
 * @param {string} root
 * @param {string} venv
 * @returns {import('./step.mjs').Step}
 */
export function texServer(root, venv) {
  const source = join(root, 'renderer', 'native', 'fork_at.c');
  const stamp = join(venv, STAMP);
  return {
    title: 'Compiling the TeX server',
    source: 'the compiler of this system',
    isDone: () => read(stamp) === hashOf(source),
    async take(run) {
      const made = join(run.folder, LIBRARY);
      await execute(run, 'cc', ['-O2', '-shared', '-fPIC', '-o', made, source, '-ldl']);
      const libraries = join(venv, 'lib');
      const python = readdirSync(libraries).find((name) => name.startsWith('python3'));
      renameSync(made, join(libraries, python, 'site-packages', LIBRARY));
      writeFileSync(stamp, hashOf(source));
    },
  };
}
