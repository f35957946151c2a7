import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Server as HttpsServer } from 'node:https';

const unhurried = new WeakSet<IncomingMessage>();

/** Lets a request arrive as slowly as Node's `requestTimeout` permits: a large file of a client with a key. */
export function giveTime(request: IncomingMessage): void {
  unhurried.add(request);
}

/** Ends a request that has not arrived in time, as Node does after `requestTimeout`, unless it was given more. */
export function limitTime(listener: HttpServer | HttpsServer, request: IncomingMessage, ms: number): void {
  const timer = setTimeout(() => {
    if (request.complete || unhurried.has(request)) return;
    const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    listener.emit('clientError', error, request.socket);
  }, ms);
  // A request whose connection was destroyed may never close: it must not keep the process.
  timer.unref();
  request.once('close', () => clearTimeout(timer));
}
