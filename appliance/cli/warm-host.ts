import type { ChildProcess } from 'node:child_process';
import { rename, rm, stat } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LocalRenderer } from '../../lib/index.ts';
import { isScenepressError } from '../../lib/internal.ts';
import { READY_SOCKET, READY_VARIABLE } from './ready-call.ts';
import { sentInspection } from './sent-inspection.ts';
import { socketLines } from './socket-lines.ts';
import { HOST_VARIABLE, startOwn, type WarmAnswer, type WarmRequest } from './warm-renderer.ts';

const LOOK_MS = 2_000;

/**
 * Serves a started or starting renderer to later calls of the command, over a socket, until none has come for
 * `idleMs`, another process has taken its place, or `signal` is aborted.
 */
export async function hostRenderer(
  renderer: LocalRenderer,
  { path, key, idleMs, signal }: { path: string; key: string; idleMs: number; signal: AbortSignal },
): Promise<void> {
  const started = renderer.start();
  started.catch(() => {}); // Reported to each caller.
  const callers = new Set<Socket>();
  let isOutdated = false;
  let hasEnded = false;
  let usedAt = performance.now();
  let ready: ChildProcess | undefined;
  const server = createServer((socket) => {
    callers.add(socket);
    socket.on('close', () => {
      callers.delete(socket);
      usedAt = performance.now();
    });
    socketLines(socket).once('line', (line) => {
      const request = JSON.parse(line) as WarmRequest;
      if (request.key === key) return void answer(socket, request);
      isOutdated = true;
      if (ready?.connected) ready.disconnect();
      socket.end(`${JSON.stringify({ kind: 'other' } satisfies WarmAnswer)}\n`);
    });
  });

  async function answer(socket: Socket, request: WarmRequest): Promise<void> {
    const closed = new AbortController();
    socket.on('close', () => closed.abort());
    const send = (message: WarmAnswer) => void socket.write(`${JSON.stringify(message)}\n`);
    try {
      await started;
      const code = Buffer.from(request.code, 'base64');
      if (request.kind === 'list') {
        const { file } = request;
        const options = { signal: closed.signal, ...(file !== undefined && { file }) };
        return send({ kind: 'scenes', scenes: await renderer.scenesOf(code, options) });
      }
      if (request.kind === 'check') {
        const checked = await renderer.check(code, { ...request.options, signal: closed.signal });
        return send({ kind: 'checked', checked });
      }
      if (request.kind === 'inspect') {
        const inspected = await renderer.inspect(code, { ...request.options, signal: closed.signal });
        return send({ kind: 'inspected', inspected: sentInspection(inspected) });
      }
      const render = await renderer.render(
        { code, ...request.request },
        {
          signal: closed.signal,
          onProgress: (progress) => send({ kind: 'progress', progress }),
          onOutput: (text) => send({ kind: 'output', text }),
        },
      );
      const discard = () => void renderer.discard(render);
      if (socket.destroyed) return discard();
      socket.on('close', discard);
      send({ kind: 'rendered', render });
    } catch (error) {
      const code = isScenepressError(error) ? error.code : 'renderer_unavailable';
      send({ kind: 'failed', code, message: (error as Error).message });
    }
  }

  /** Keeps a process ready for the next call. Starts another one when that call has ended, because it would slow it down. */
  function keepReady(): void {
    const child = startOwn({ [HOST_VARIABLE]: '', [READY_VARIABLE]: join(dirname(path), READY_SOCKET) });
    let isCalled = false;
    ready = child;
    child.once('message', () => {
      isCalled = true;
      child.disconnect();
      child.unref();
    });
    child.once('error', () => {}); // Later calls load the program themselves.
    child.once('exit', () => {
      if (ready === child) ready = undefined;
      if (isCalled && !isOutdated && !hasEnded) keepReady();
    });
  }

  // Renamed, so that the socket of a process that this one replaces is never missing.
  const own = `${path}.${process.pid}`;
  await rm(own, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(own, resolve);
  });
  const { ino } = await stat(own);
  await rename(own, path);
  process.send?.('listening');
  process.disconnect?.();
  keepReady();
  const isOwn = async () => (await stat(path).catch(() => undefined))?.ino === ino;
  let isBroken = false;
  started.catch(() => {
    isBroken = true;
  });
  while (!signal.aborted) {
    await delay(Math.min(LOOK_MS, idleMs), undefined, { signal }).catch(() => {}); // Aborted.
    const isIdle = callers.size === 0 && performance.now() - usedAt > idleMs;
    if (isIdle || (callers.size === 0 && (isBroken || isOutdated || !(await isOwn())))) break;
  }
  hasEnded = true;
  server.close();
  if (ready?.connected) ready.disconnect();
  for (const socket of callers) socket.destroy();
  if (await isOwn()) await rm(path, { force: true });
}
