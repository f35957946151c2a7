import { rename, rm, stat } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { type FromReady, programKey, type ReadyCall, type ToReady } from './ready-call.ts';
import { runProgram } from './run-program.ts';
import { socketLines } from './socket-lines.ts';
import './render.ts';

/**
 * Waits at a socket for one call of the command, runs it, and exits. Notifies the parent when a call has come, and
 * exits if the parent exits before.
 */
export async function waitForCall(path: string): Promise<void> {
  const own = `${path}.${process.pid}`;
  await rm(own, { force: true });
  const server = createServer();
  const called = new Promise<Socket>((resolve) => server.once('connection', resolve));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(own, resolve));
  const { ino } = await stat(own);
  const remove = async () => {
    server.close();
    const found = await stat(path).catch(() => undefined);
    if (found?.ino === ino) await rm(path, { force: true });
  };
  const giveUp = async () => {
    await remove();
    process.exit();
  };
  process.once('disconnect', giveUp);
  if (!process.connected) return giveUp();
  await rename(own, path);
  const socket = await called;
  process.off('disconnect', giveUp);
  await remove();
  if (process.connected) process.send?.('called');
  await answer(socket);
}

async function answer(socket: Socket): Promise<void> {
  const send = (message: FromReady, then?: () => void) => socket.write(`${JSON.stringify(message)}\n`, then);
  const exit = (message: FromReady) => send(message, () => process.exit());
  const call = await firstLine(socket);
  if (!call || call.program !== programKey() || !take(call, send)) return void exit({ refused: true });
  await runProgram();
  exit({ code: Number(process.exitCode ?? 0) });
}

/** The call; later lines are signals, and so is the end of the caller. */
function firstLine(socket: Socket): Promise<ReadyCall | undefined> {
  return new Promise((resolve) => {
    socketLines(socket).on('line', (line) => {
      const message = JSON.parse(line) as ToReady;
      if ('call' in message) resolve(message.call);
      else process.emit(message.signal);
    });
    socket.once('close', () => {
      resolve(undefined);
      if (!process.emit('SIGINT')) process.exit();
    });
  });
}

/** Makes the caller's arguments, folder, environment and output those of this process. */
function take(call: ReadyCall, send: (message: FromReady, then?: () => void) => void): boolean {
  try {
    process.chdir(call.cwd);
  } catch {
    return false;
  }
  process.umask(call.umask);
  for (const name of Object.keys(process.env)) if (!(name in call.env)) delete process.env[name];
  Object.assign(process.env, call.env);
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...call.args);
  for (const name of ['stdout', 'stderr'] as const) {
    // Done at once: what waited in the stream at the end would be lost.
    const write = (chunk: Buffer, _: unknown, done: () => void) => {
      send({ [name]: chunk.toString() } as FromReady);
      done();
    };
    const value = Object.assign(new Writable({ write }), { isTTY: call.terminals[name] });
    Object.defineProperty(process, name, { value, configurable: true });
  }
  return true;
}
