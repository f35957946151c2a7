import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { deniedMessage, SetupError } from './failures.mjs';

/**
 * @typedef {object} Run
 * @property {string} folder for temporary files, on the disk of the results
 * @property {number} lock descriptor
 * @property {number} log descriptor
 * @property {string} logPath
 * @property {string} cwd where programs run, unless told otherwise
 * @property {import('./progress.mjs').Progress} progress
 * @property {Set<import('node:child_process').ChildProcess>} children running programs
 */

/**
 * Opens and locks the folder for the log and temporary files. Only one setup can hold it.
 *
 * @param {string} folder
 * @param {{ cwd: string, progress: import('./progress.mjs').Progress }} options
 * @returns {Run}
 */
export function openRun(folder, { cwd, progress }) {
  try {
    mkdirSync(folder, { recursive: true });
    // A kernel lock on a descriptor that all child processes inherit: it is released when the last of them ends,
    // even if this process is killed while npm is running.
    const lock = openSync(join(folder, 'lock'), 'a');
    const flock = (...flags) =>
      spawnSync('flock', [...flags, '3'], { stdio: ['ignore', 'ignore', 'ignore', lock] }).status;
    if (flock('--nonblock') === 1) {
      progress.say('Waiting for another setup to finish …');
      flock();
    }
    const logPath = join(folder, 'setup.log');
    return { folder, lock, log: openSync(logPath, 'w'), logPath, cwd, progress, children: new Set() };
  } catch (error) {
    const message = deniedMessage(error);
    throw message ? new SetupError(`The set-up is incomplete, and ${message}`, { cause: error }) : error;
  }
}

/**
 * Runs `work` with a log of its own, which is added to that of the run at the end: the output of steps that are taken at
 * the same time would be mixed.
 *
 * @template T
 * @param {Run} run
 * @param {string} title
 * @param {(run: Run) => Promise<T>} work
 */
export async function withOwnLog(run, title, work) {
  const logPath = join(run.folder, `${title.replace(/\W+/g, '-').toLowerCase()}.log`);
  const log = openSync(logPath, 'w');
  try {
    return await work(Object.assign(Object.create(run), { log, logPath }));
  } finally {
    closeSync(log);
    appendFileSync(run.log, `\n=== ${title}\n`);
    appendFileSync(run.log, readFileSync(logPath));
    rmSync(logPath);
  }
}

/**
 * Passes signals on to the running programs until `work` has ended, and exits.
 *
 * @template T
 * @param {Run} run
 * @param {() => Promise<T>} work
 */
export async function withSignals(run, work) {
  const stop = (signal) => {
    for (const child of run.children) child.kill(signal);
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work();
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
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
    run.children.add(child);
    child.on('error', (error) => {
      run.children.delete(child);
      reject(new Error(`${name} can't be started (${error.code})`));
    });
    child.on('close', (code, signal) => {
      run.children.delete(child);
      if (code === 0) settle();
      else reject(new Error(`${name} ended with ${signal ?? `status ${code}`}`));
    });
  });
}
