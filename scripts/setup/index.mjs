import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { node24 } from './node-24.mjs';
import { npmPackages } from './npm-packages.mjs';
import { nativeLibraries, preparedTex, pythonEnvironment, pythonTools } from './python-environment.mjs';
import { openRun } from './run.mjs';
import { takeStep } from './step.mjs';
import { systemPackages } from './system-packages.mjs';

export { SetupError } from './failures.mjs';
export { TEX_SOURCES } from './python-environment.mjs';
export { openRun } from './run.mjs';
export { takeStep } from './step.mjs';
export { SYSTEM_PACKAGES, systemPackages } from './system-packages.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Takes the steps whose result is missing, in this order. If none is, that takes milliseconds.
 *
 * @param {object} [options]
 * @param {boolean} [options.dev] also install the requirements of tests and checks
 * @param {string} [options.pythonOnly] build only the Python environment, in this folder
 * @param {boolean | 'check'} [options.system] whether to install system packages; `check`: only name those that are missing
 * @param {(text: string) => void} [options.print] receives progress text, possibly parts of lines
 * @returns {Promise<{ python: string, changed: boolean }>} python: the environment's interpreter
 * @throws {SetupError} with a message for the user: the failure, and how to fix it
 */
export async function setUp(options = {}) {
  const { dev = false, pythonOnly, system = true, print = (text) => process.stdout.write(text) } = options;
  const venv = pythonOnly ? resolve(pythonOnly) : join(root, '.venv');
  const python = join(venv, 'bin', 'python');

  const environment = pythonEnvironment(root, venv);
  const native = nativeLibraries(root, venv);
  const isBuilt = environment.isDone() && native.isDone();
  const steps = [
    ...(system ? [systemPackages({ dev, build: !isBuilt, installs: system !== 'check' })] : []),
    ...(pythonOnly ? [] : [npmPackages(root), node24(root)]),
    environment,
    native,
    preparedTex(root, venv),
    ...(dev ? [pythonTools(root, venv)] : []),
  ];
  if (steps.every((step) => step.isDone())) return { python, changed: false };

  // Files installed by root must be readable by others: the renderer runs under its own uid.
  const umask = process.umask(0o022);
  try {
    const run = openRun(pythonOnly ? `${venv}.setup` : join(root, '.setup'), { cwd: root, print });
    for (const step of steps) await takeStep(step, run);
  } finally {
    process.umask(umask);
  }
  return { python, changed: true };
}
