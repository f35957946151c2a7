import { randomUUID } from 'node:crypto';
import {
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Logger } from '../support/log.ts';
import type { Connections } from './connections.ts';
import { limitTime } from './request-time.ts';
import { Turns } from './turns.ts';

/** Time for a client to read the response and close. An immediate close could lose the response to a TCP reset. */
const LINGER_MS = 1_000;

interface Refusal {
  status: number;
  message: string;
}

const BAD_REQUEST: Refusal = { status: 400, message: 'This is not a valid HTTP request.' };

/** By Node's error code. */
const REFUSALS: Record<string, Refusal | undefined> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The extensions of a chunk are too large.' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The request headers are too large.' },
};

const NO_HOST: Refusal = { status: 400, message: 'An HTTP/1.1 request needs a Host header.' };
const EXPECTATION: Refusal = { status: 417, message: 'The only supported expectation is 100-continue.' };

/**
 * Responds to invalid or slow HTTP requests and closes the connection. Replaces hapi's own listener, which may
 * respond to a request that was already answered, which can crash the process, and which doesn't close the
 * connection. Writes nothing into a response that has begun, nor before the responses to earlier requests of the
 * connection. Requests reach the framework one at a time per connection.
 */
export function answerClientErrors(
  listener: HttpServer | HttpsServer,
  connections: Connections,
  logger: Logger,
  arrivesWithinMs: number,
): void {
  // After an error the parser reports each further packet as another error.
  const refused = new WeakSet<Socket>();
  listener.removeAllListeners('clientError');
  listener.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const refusal = isOfParser(error) ? (REFUSALS[error.code ?? ''] ?? BAD_REQUEST) : undefined;
    if (!refusal || !connections.isOpen(socket)) {
      socket.destroy();
      return;
    }
    connections.whenEarlierAnswered(socket, () => {
      if (!socket.writable || connections.unansweredOn(socket)?.headersSent) {
        socket.destroy();
        return;
      }
      const requestId = randomUUID();
      const { remoteAddress, bytesRead } = socket;
      closeAfter(socket, messageOf(refusal, requestId));
      // Browsers open connections in advance and may never send a request on them.
      const level = bytesRead === 0 ? 'debug' : 'info';
      const { status } = refusal;
      logger[level]({ requestId, status, reason: error.code, remoteAddress }, 'request refused');
    });
  });
  listener.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    refuse(response, EXPECTATION);
  });
  const turns = new Turns();
  // Rejects requests without a Host header here, because Node would send no body.
  for (const event of ['request', 'checkContinue'] as const) {
    const framework = listener.listeners(event) as RequestListener[];
    listener.removeAllListeners(event);
    listener.on(event, (request: IncomingMessage, response: ServerResponse) => {
      if (request.headers.host === undefined && request.httpVersion === '1.1') refuse(response, NO_HOST);
      else {
        limitTime(listener, request, arrivesWithinMs);
        turns.await(request, response, () => {
          for (const listen of framework) listen(request, response);
        });
      }
    });
  }
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  const body = bodyOf(refusal);
  response.writeHead(refusal.status, headersOf(body, randomUUID())).end(body);
}

/** Errors of the connection itself can't be answered. */
function isOfParser({ code = '' }: NodeJS.ErrnoException): boolean {
  return code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT';
}

function closeAfter(socket: Socket, message: string): void {
  socket.end(message);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

function messageOf(refusal: Refusal, requestId: string): string {
  const body = bodyOf(refusal);
  const lines = Object.entries(headersOf(body, requestId)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('')}\r\n${body}`;
}

function headersOf(body: string, requestId: string): Record<string, string | number> {
  return {
    'content-length': Buffer.byteLength(body),
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-cache',
    'request-id': requestId,
    date: new Date().toUTCString(),
    connection: 'close',
  };
}

function bodyOf({ status, message }: Refusal): string {
  return JSON.stringify({ error: STATUS_CODES[status], message });
}
