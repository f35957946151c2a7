import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import { IDLE_PYTHON } from './listening-appliance.ts';
import { assertMatchesSchema } from './printed-json.ts';

export const MAIN: string = join(import.meta.dirname, '..', '..', 'appliance', 'main.ts');

/** For what commands keep between calls, in place of the user's own. */
const CACHE = mkdtempSync(join(tmpdir(), 'scenepress-cache-'));
process.once('exit', () => rmSync(CACHE, { recursive: true, force: true }));

/** The environment without variables of Scenepress and of the test runner. */
const OTHER_VARIABLES = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(SCENEPRESS_|TAP|NODE_OPTIONS)/.test(name)),
  ),
  XDG_CACHE_HOME: CACHE,
};

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  env?: Record<string, string>;
  /** Uses the real renderer instead of one whose jobs never begin. */
  renders?: boolean;
  /** A program that runs the command: its name and arguments. */
  launcher?: string[];
  /** The command, when not the one of the checkout. */
  program?: string[];
  cwd?: string;
  /** Where `serve` logs, when not on standard error. */
  logFile?: string;
  /** Standard output of `serve` can't be read. */
  saysItListens?: boolean;
  stdin?: string;
}

function start(
  args: string[],
  { env, cwd, launcher = [], program: command = [process.execPath, MAIN] }: CommandOptions = {},
): ChildProcessByStdio<Writable, Readable, Readable> {
  const [program, ...rest] = [...launcher, ...command, ...args] as [string, ...string[]];
  return spawn(program, rest, {
    env: { ...OTHER_VARIABLES, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // A process group of its own, as a shell gives it.
    ...(cwd !== undefined && { cwd }),
  });
}

/** Runs `scenepress` with these arguments until it exits. What it prints with `--json` must match its schema. */
export async function scenepress(args: string[], options?: CommandOptions): Promise<Ended> {
  return startScenepress(args, options).ended;
}

/** Starts `scenepress`, as the leader of a process group. */
export function startScenepress(
  args: string[],
  options?: CommandOptions,
): { pid: number; ended: Promise<Ended> } {
  const child = start(args, options);
  child.stdin.end(options?.stdin ?? '');
  const ending = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const ended = ending.then(([stdout, stderr, [code]]) => {
    assertMatchesSchema(args, stdout);
    return { code: code as number | null, stdout, stderr };
  });
  return { pid: child.pid as number, ended };
}

/** Sends SIGINT to the process group, as Ctrl-C does, once standard error matches, and waits until it exits. */
export async function interrupted(args: string[], when: RegExp, options?: CommandOptions): Promise<Ended> {
  return reacting(args, { when, react: (pid) => process.kill(-pid, 'SIGINT'), ...(options && { options }) });
}

/** Runs `scenepress` until it exits, and calls `react` once standard error matches. */
export async function reacting(
  args: string[],
  { when, react, options }: { when: RegExp; react: (pid: number) => void; options?: CommandOptions },
): Promise<Ended> {
  const child = start(args, options);
  child.stdin.end();
  let stderr = '';
  let matched = false;
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
    if (!matched && when.test(stderr)) react(child.pid as number);
    matched ||= when.test(stderr);
  });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  assertMatchesSchema(args, stdout);
  return { code: code as number | null, stdout, stderr };
}

/** A `scenepress serve` that runs until the test ends. */
export interface Serving {
  pid: number;
  port: number;
  url: string;
  /** The output so far. */
  stdout: () => string;
  stderr: () => string;
  /** Resolves when standard output or error matches. */
  says: (pattern: RegExp) => Promise<void>;
  kill: (signal: NodeJS.Signals) => void;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

/** Starts `scenepress serve` on any port and waits until it is ready. */
export async function serve(t: Test, args: string[], options: CommandOptions = {}): Promise<Serving> {
  const env = {
    ...(!options.renders && { SCENEPRESS_PYTHON: IDLE_PYTHON, SCENEPRESS_INSECURE_NO_SANDBOX: 'true' }),
    SCENEPRESS_WORKERS: '1',
    SCENEPRESS_DRAIN_SECONDS: '0',
    ...options.env,
  };
  const child = start(['serve', '--port', '0', ...args], { ...options, env });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
    child.emit('said');
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
    child.emit('said');
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const says = async (pattern: RegExp) => {
    while (!pattern.test(stdout + stderr)) {
      await Promise.race([
        once(child, 'said'),
        ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${stderr}`))),
      ]);
    }
  };
  if (options.saysItListens !== false) await says(/ listens on /);
  if (options.logFile === undefined) await says(/"msg":"ready"/);
  const said = options.logFile === undefined ? /"port":(\d+),.*"msg":"ready"/ : / listens on \S+:(\d+)/;
  const port = Number(said.exec(stderr + stdout)?.[1]);
  return {
    pid: child.pid as number,
    port,
    url: `http://127.0.0.1:${port}`,
    stdout: () => stdout,
    stderr: () => stderr,
    says,
    kill: (signal) => child.kill(signal),
    ended,
  };
}
