import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { deniedMessage, SetupError } from './failures.mjs';

/**
 * @typedef {object} Run
 * @property {string} folder for temporary files, on the disk of the results
 * @property {number} lock descriptor
 * @property {number} log descriptor
 * @property {string} logPath
 * @property {string} cwd where programs run, unless told otherwise
 * @property {(text: string) => void} print
 */

/**
 * Opens and locks the folder for the log and temporary files. Only one setup can hold it.
 *
 * @returns {Run}
 */
export function openRun(folder, { cwd, print }) {
  try {
    mkdirSync(folder, { recursive: true });
    // A kernel lock on a descriptor that all child processes inherit: it is released when the last of them ends,
    // even if this process is killed while npm is running.
    const lock = openSync(join(folder, 'lock'), 'a');
    const flock = (...flags) =>
      spawnSync('flock', [...flags, '3'], { stdio: ['ignore', 'ignore', 'ignore', lock] }).status;
    if (flock('--nonblock') === 1) {
      print('Waiting for another setup to finish …\n');
      flock();
    }
    const logPath = join(folder, 'setup.log');
    return { folder, lock, log: openSync(logPath, 'w'), logPath, cwd, print };
  } catch (error) {
    const message = deniedMessage(error);
    throw message ? new SetupError(`The set-up is incomplete, and ${message}`, { cause: error }) : error;
  }
}

/**
 * Runs a program and logs its output; rejects unless it exits with 0.
 *
 * @param {Run} run
 */
export function execute(
  run,
  command,
  args,
  { cwd = run.cwd, env = process.env, name = basename(command) } = {},
) {
  writeFileSync(run.log, `$ ${[command, ...args].join(' ')}\n`);
  return new Promise((settle, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', run.log, run.log, run.lock] });
    const stop = (signal) => {
      child.kill(signal);
      process.exit(signal === 'SIGINT' ? 130 : 143);
    };
    process.once('SIGINT', stop).once('SIGTERM', stop);
    child.on('error', (error) => reject(new Error(`${name} can't be started (${error.code})`)));
    child.on('close', (code, signal) => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      if (code === 0) settle();
      else reject(new Error(`${name} ended with ${signal ?? `status ${code}`}`));
    });
  });
}
