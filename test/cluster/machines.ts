import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { type Ended, MAIN, scenepress } from '../appliance/command.ts';
import { newSchema, serverUrl } from '../fixtures/postgres/database.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const INSTANT_PYTHON = join(import.meta.dirname, '../fixtures/instant-renderer/bin/python');
export const MASTER_KEY: string = '5a'.repeat(32);
const WITHOUT_MASTER_KEY = { SCENEPRESS_MASTER_KEY: undefined };

/** The environment without variables of Scenepress and of the test runner. */
const OTHER_VARIABLES = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(SCENEPRESS_|TAP|NODE_OPTIONS)/.test(name)),
);

/** An installation with a schema of its own, and a folder for artifacts. */
export interface Cluster {
  env: Record<string, string>;
  schema: string;
  /** Starts a server or a worker, and waits until it is ready. */
  start: (command: 'serve' | 'worker', args?: string[], env?: Record<string, string>) => Promise<Machine>;
  /** Runs a command until it exits. */
  run: (args: string[], env?: NodeJS.ProcessEnv) => Promise<Ended>;
  /** Runs a command with `--json`; its document. */
  json: <T>(args: string[]) => Promise<T>;
}

/** A process of a cluster, which runs until the test ends. */
export interface Machine {
  pid: number;
  port: number;
  stdout: () => string;
  stderr: () => string;
  kill: (signal: NodeJS.Signals) => void;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
  get: (path: string, headers?: Record<string, string>) => Promise<Response>;
  post: (key: string, body: object) => Promise<Response>;
  /** Lets the job that lingers end, and further ones. */
  release: () => void;
  /** Lets jobs linger again. */
  hold: () => void;
}

export async function cluster(t: Test, given: Record<string, string> = {}): Promise<Cluster> {
  const schema = newSchema();
  const env = {
    SCENEPRESS_DATABASE_URL: await serverUrl(),
    SCENEPRESS_DATABASE_SCHEMA: schema,
    SCENEPRESS_DATABASE_CONNECTIONS: '4',
    SCENEPRESS_MASTER_KEY: MASTER_KEY,
    SCENEPRESS_ARTIFACT_DIR: await temporaryFolder(t),
    SCENEPRESS_PUBLIC_URL: 'https://render.example.org',
    SCENEPRESS_PYTHON: INSTANT_PYTHON,
    SCENEPRESS_INSECURE_NO_SANDBOX: 'true',
    SCENEPRESS_WORKERS: '1',
    SCENEPRESS_DRAIN_SECONDS: '0',
    SCENEPRESS_LOG_LEVEL: 'info',
    ...given,
  };
  const run = (args: string[], more: NodeJS.ProcessEnv = {}) =>
    scenepress(args, { env: { ...env, SCENEPRESS_DATA_DIR: '/nonexistent', ...more } });
  return {
    env,
    schema,
    run,
    json: async <T>(args: string[]) => {
      const { code, stdout, stderr } = await run([...args, '--json']);
      if (code !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as T;
    },
    start: async (command, args = [], more = {}) =>
      startMachine(t, [command, '--port', '0', ...args], {
        ...env,
        ...(command === 'worker' && WITHOUT_MASTER_KEY),
        SCENEPRESS_DATA_DIR: await temporaryFolder(t),
        ...more,
      }),
  };
}

async function startMachine(t: Test, args: string[], env: NodeJS.ProcessEnv): Promise<Machine> {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(process.execPath, [MAIN, ...args], {
    env: { ...OTHER_VARIABLES, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
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
  const READY = /"port":(\d+),.*"msg":"ready"/;
  while (!READY.test(stderr)) {
    await Promise.race([
      once(child, 'said'),
      ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${stderr}`))),
    ]);
  }
  const port = Number(READY.exec(stderr)?.[1]);
  const work = join(env['SCENEPRESS_DATA_DIR'] ?? '', 'work');
  /** Files that each worker's renderer waits for. */
  const signs = () =>
    readdirSync(work)
      .filter((name) => /^w\d+$/.test(name))
      .map((worker) => join(work, worker, 'go'));
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers, redirect: 'manual' });
  return {
    pid: child.pid as number,
    port,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal) => child.kill(signal),
    ended,
    get,
    post: (key, body) =>
      fetch(`http://127.0.0.1:${port}/api/v2/render`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    release: () => {
      for (const go of signs()) writeFileSync(go, '');
    },
    hold: () => {
      for (const go of signs()) rmSync(go, { force: true });
    },
  };
}

/** An account with a key. */
export async function newKey({ run, json }: Cluster, email = 'ada@example.org'): Promise<string> {
  await run(['account', 'create', email]);
  const { key } = await json<{ key: string }>(['key', 'create', '--account', email, '--name', 'Test']);
  return key;
}

/** The id of a new job. */
export async function enqueue(
  server: Machine,
  key: string,
  code: string,
  fields: object = {},
): Promise<string> {
  const answer = await server.post(key, { className: 'Hello', code, ...fields });
  const { jobId } = (await answer.json()) as { jobId?: string };
  if (jobId === undefined) throw new Error(`${answer.status}`);
  return jobId;
}

/** Resolves with what `look` finds, once it finds something. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await delay(50);
  }
}
