import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { node24 } from './node-24.mjs';
import { needsAllPackages, npmPackages } from './npm-packages.mjs';
import { progressOn } from './progress.mjs';
import { nativeLibraries, preparedTex, pythonEnvironment, pythonTools } from './python-environment.mjs';
import { openRun } from './run.mjs';
import { takeSteps } from './step.mjs';
import { canInstall, systemPackages } from './system-packages.mjs';

export { aptDetail } from './apt.mjs';
export { SetupError } from './failures.mjs';
export { plainLines } from './progress.mjs';
export { TEX_SOURCES } from './python-environment.mjs';
export { openRun } from './run.mjs';
export { takeSteps } from './step.mjs';
export { SYSTEM_PACKAGES, systemPackages } from './system-packages.mjs';
export { uvDetail, uvSettings } from './uv.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Takes the steps whose result is missing, as many at the same time as possible. If none is, that takes milliseconds.
 *
 * @param {object} [options]
 * @param {boolean} [options.dev] also install the requirements of tests and checks
 * @param {boolean} [options.npmOnly] install only npm packages, with those of Postgres, S3 and builds
 * @param {boolean} [options.defersTex] leave TeX packages that few scenes need to the service, if it can install them
 * @param {string} [options.pythonOnly] build only the Python environment, in this folder
 * @param {boolean | 'check'} [options.system] whether to install system packages; `check`: only name those that are missing
 * @param {import('./progress.mjs').Progress} [options.progress]
 * @returns {Promise<{ python: string, changed: boolean }>} python: the environment's interpreter
 * @throws {SetupError} with a message for the user: the failure, and how to fix it
 */
export async function setUp(options = {}) {
  const { dev = false, npmOnly = false, defersTex = false, pythonOnly, system = true } = options;
  const moreTex = process.env.SCENEPRESS_EXTRA_TEX !== 'off' && !(defersTex && canInstall());
  const { progress = progressOn(process.stdout) } = options;
  const venv = pythonOnly ? resolve(pythonOnly) : join(root, '.venv');
  const folder = pythonOnly ? `${venv}.setup` : join(root, '.setup');
  const steps = stepsOf({ dev, npmOnly, moreTex, venv, folder, system, hasNpm: !pythonOnly });
  const python = join(venv, 'bin', 'python');
  if (steps.every((step) => step.isDone())) return { python, changed: false };

  // Files installed by root must be readable by others: the renderer runs under its own uid.
  const umask = process.umask(0o022);
  try {
    await takeSteps(steps, openRun(folder, { cwd: root, progress }));
  } finally {
    process.umask(umask);
  }
  return { python, changed: true };
}

function stepsOf({ dev, npmOnly, moreTex, venv, folder, system, hasNpm }) {
  const needsAll = needsAllPackages(root, dev || npmOnly);
  const npm = npmPackages(root, { needsAll });
  const ofNpm = [npm, node24(root, { needsAll, after: [npm] })];
  if (npmOnly) return ofNpm;
  const isBuilt = pythonEnvironment(root, venv).environment.isDone() && nativeLibraries(root, venv).isDone();
  const installs = system !== 'check';
  const apt = systemPackages({ folder, dev, build: !isBuilt, moreTex, installs });
  const { packages, environment } = pythonEnvironment(root, venv, {
    afterPython: [apt.python],
    afterCompilers: [apt.compilers],
  });
  const native = nativeLibraries(root, venv, [environment, apt.compilers]);
  const tools = pythonTools(root, venv, [native]);
  const tex = preparedTex(root, venv, [native, apt.rest, tools]);
  return [
    ...(system ? [apt.python, apt.compilers, apt.rest] : []),
    ...(hasNpm ? ofNpm : []),
    packages,
    environment,
    native,
    ...(dev ? [tools] : []),
    tex,
  ];
}
