#!/usr/bin/env node
/**
 * Installs the requirements of a checkout (system packages, npm packages, Node 24, the Python environment) or of an
 * installed package (system packages, and a renderer in the user's cache).
 *
 * Runs on Node 20 with nothing installed, so it uses no packages and no TypeScript. The steps are in `setup/`.
 */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SetupError, setUp } from './setup/index.mjs';
import { setUpShared } from './setup/shared-renderer.mjs';

const usage = `Usage: scenepress setup [options]   (in a checkout: node scripts/setup.mjs)

Installs the requirements of Scenepress; skips those that are already installed.

  --archive FILE      unpack the renderer from the single executable, or from a root-….tar.zst: needs no network,
                      no system packages and no Python
  --renderer-dir DIR  where the renderer of an installed package is kept (SCENEPRESS_RENDERER_DIR; default: the
                      user's cache)
  --no-system         don't check or install system packages
  --python-only DIR   install only system packages and a Python environment in DIR
  --defer-tex         leave the TeX packages that few scenes need to \`scenepress serve --install-tex\`
  --npm-only          in a checkout, install only npm packages, with those that Postgres, S3 and builds need
  --dev               in a checkout, also install the requirements of tests and checks
  --help              show this text

SCENEPRESS_SETUP_PYTHON is the Python (3.11 or newer) to build the environment with. SCENEPRESS_EXTRA_TEX=off leaves out
the TeX packages that few scenes need: XeTeX, LuaTeX, Chinese, Polish, science, and most fonts.
`;

const isCheckout = existsSync(join(dirname(dirname(fileURLToPath(import.meta.url))), 'package-lock.json'));

/** @param {string[]} args arguments of the command; sets the exit code to 1 on failure */
export async function main(args) {
  // A checkout installs a newer Node for itself.
  const oldest = isCheckout ? '20' : '22.16';
  const [major, minor = 0] = oldest.split('.').map(Number);
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
    const remedy = isCheckout ? `Install Node ${oldest} or newer.` : 'For this project: npm install node@24';
    return fail(
      `The setup of Scenepress needs Node ${oldest} or newer; this is ${process.version}. ${remedy}`,
    );
  }
  const options = {};
  const rest = [...args];
  while (rest.length > 0) {
    const arg = rest.shift();
    if (arg === '--dev') options.dev = true;
    else if (arg === '--defer-tex') options.defersTex = true;
    else if (arg === '--npm-only') options.npmOnly = true;
    else if (arg === '--no-system') options.system = false;
    else if (arg === '--python-only' && rest.length > 0) options.pythonOnly = rest.shift();
    else if (arg === '--archive' && rest.length > 0) options.archive = rest.shift();
    else if (arg === '--renderer-dir' && rest.length > 0) options.folder = rest.shift();
    else if (arg === '--help') return process.stdout.write(usage);
    else return fail(`Unknown option or missing value: ${arg}\n\n${usage}`);
  }
  const { platform, arch } = process;
  if (platform !== 'linux' || arch !== 'x64') {
    return fail(
      `Renders need Linux on x64; this is ${platform} on ${arch}. Use a service on such a machine: \`scenepress render ` +
        '--server URL`, or scenepress/client. They need no set-up.',
    );
  }
  try {
    if (options.archive ?? options.folder) await setUpShared(options);
    else if (isCheckout || options.pythonOnly || options.dev || options.npmOnly) await setUp(options);
    else await setUpShared(options);
  } catch (error) {
    if (!(error instanceof SetupError) && error.code !== 'renderer_unavailable') throw error;
    fail(error.message);
  }
}

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await main(process.argv.slice(2));
}
