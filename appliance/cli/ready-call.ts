import { readlinkSync, statSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { VERSION } from '../support/version.ts';
import { socketLines } from './socket-lines.ts';
import { warmFolder } from './warm-folder.ts';

// Loading the program takes longer than a short render. So beside a kept renderer, a process that has loaded it waits
// for the next call, and runs it in the caller's folder and environment. This module is the caller's side, and imports
// little.

/** What a ready process needs to run a call as the caller would. */
export interface ReadyCall {
  program: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  umask: number;
  terminals: { stdout: boolean; stderr: boolean };
}

/** Caller to ready process: the call, then signals. */
export type ToReady = { call: ReadyCall } | { signal: NodeJS.Signals };
/** Ready process to caller. `refused`: it is of another program, or can't enter the folder. */
export type FromReady = { refused: true } | { stdout: string } | { stderr: string } | { code: number };

/** In the environment of a ready process: the path of its socket. */
export const READY_VARIABLE = 'SCENEPRESS_READY_SOCKET';
export const READY_SOCKET = 'command.sock';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A ready process has its own standard input, network settings and lifetime. */
const OWN_PROCESS = /^(-|--watch|--server(=.*)?)$/;

/** Identifies the program, and what its paths mean. */
export function programKey(): string {
  const main = process.argv[1] ?? process.execPath;
  return [VERSION, process.execPath, main, statSync(main).mtimeMs, readlinkSync('/proc/self/ns/mnt')].join();
}

/** Runs this process's command in a ready process. Returns its exit code; undefined if there is no ready process. */
export async function callReady(): Promise<number | undefined> {
  const args = process.argv.slice(2);
  if (!keepsRenderer(args) || args.some((arg) => OWN_PROCESS.test(arg))) return undefined;
  const folder = await warmFolder();
  const socket = folder && (await connect(join(folder, READY_SOCKET)));
  if (!socket) return undefined;
  const send = (message: ToReady) => void socket.write(`${JSON.stringify(message)}\n`);
  for (const signal of SIGNALS) process.on(signal, () => send({ signal }));
  send({
    call: {
      program: programKey(),
      args,
      cwd: process.cwd(),
      env: process.env,
      umask: process.umask(),
      terminals: { stdout: process.stdout.isTTY === true, stderr: process.stderr.isTTY === true },
    },
  });
  try {
    return await ended(socket);
  } finally {
    socket.destroy();
    for (const signal of SIGNALS) process.removeAllListeners(signal);
  }
}

/** Like the option: by default in a terminal. */
function keepsRenderer(args: string[]): boolean {
  const at = args.findLastIndex((arg) => /^--keep-warm(=|$)/.test(arg));
  if (at < 0) return process.stderr.isTTY === true;
  return Number(args[at]?.split('=')[1] ?? args[at + 1]) > 0;
}

async function connect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(path, () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });
}

/** Shows the output until the command has ended. */
async function ended(socket: Socket): Promise<number | undefined> {
  for await (const line of socketLines(socket)) {
    const message = JSON.parse(line) as FromReady;
    if ('stdout' in message) process.stdout.write(message.stdout);
    else if ('stderr' in message) process.stderr.write(message.stderr);
    else return 'code' in message ? message.code : undefined;
  }
  process.stderr.write('scenepress: the process that ran the command ended unexpectedly. Try again.\n');
  return 1;
}
