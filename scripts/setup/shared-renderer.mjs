import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setUp } from './index.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const INTERRUPTED = 130;

/**
 * Sets up the renderer that an installed package finds by default, as `ensureRenderer` of the library does, but also
 * installs system packages, as root.
 *
 * @param {object} options
 * @param {string} [options.archive] where to unpack it from
 * @param {string} [options.folder] default: that of the library
 * @param {boolean} [options.system] false: don't check or install system packages
 */
export async function setUpShared({ archive, folder: chosen, system = true }) {
  const { rendererFolder, environmentFolder, findRenderer } = await library('environment/renderer-folder');
  const folder = resolve(chosen ?? rendererFolder());
  if (archive !== undefined) return unpack({ archive, folder });
  const found = await findRenderer(folder);
  if (!found) await setUp({ pythonOnly: environmentFolder(folder), system });
  print(found?.root ?? environmentFolder(folder));
}

async function unpack(options) {
  const { ensureRenderer } = await library('setup/ensure-renderer');
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort()).once('SIGTERM', () => interrupted.abort());
  let shown = '';
  const onProgress = ({ message, fraction }) => {
    const percent = fraction === null ? '' : `${Math.floor(fraction * 100)} %`;
    if (process.stdout.isTTY) process.stdout.write(`\r${message} … ${percent}\x1b[K`);
    else if (shown !== message) process.stdout.write(`${message} …\n`);
    shown = message;
  };
  try {
    const { root } = await ensureRenderer({ ...options, onProgress, signal: interrupted.signal });
    if (process.stdout.isTTY && shown) process.stdout.write('\r\x1b[K');
    print(root);
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    process.exitCode = INTERRUPTED;
  }
}

function print(place) {
  process.stdout.write(`The renderer is in ${place}.\n`);
}

/** A module of the library: its build in an installed package, and its source in a checkout, where builds may be old. */
function library(name) {
  const source = join(root, 'lib', 'render', `${name}.ts`);
  const built = join(root, 'dist', 'lib', 'render', `${name}.js`);
  const isInstalled = !existsSync(join(root, 'package-lock.json')) && existsSync(built);
  return import(pathToFileURL(isInstalled ? built : source).href);
}
