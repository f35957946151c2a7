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
import { Turns } from './turns.ts';

/** How long a client has to read the answer and close: closed at once, the answer could be lost to a reset. */
const LINGER_MS = 1_000;

interface Refusal {
  status: number;
  message: string;
}

const BAD_REQUEST: Refusal = { status: 400, message: 'This is not a valid HTTP request.' };

/** By the code of Node's error. */
const REFUSALS: Record<string, Refusal | undefined> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'The request took too long to arrive.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: 'The extensions of a chunk are too large.' },
  HPE_HEADER_OVERFLOW: { status: 431, message: 'The head of the request is too large.' },
};

const NO_HOST: Refusal = { status: 400, message: 'A request of HTTP/1.1 needs a Host header.' };
const EXPECTATION: Refusal = { status: 417, message: 'The only expectation that is met is 100-continue.' };

/**
 * Answers what is not an HTTP request, or took too long to become one, and closes the connection. In place of hapi's
 * own listener, which replies to a request that may have been answered and so can end the process, and which leaves
 * the closing to the client. Nothing is written into an answer that has begun, or before the answers to requests that
 * came earlier on the connection. Requests reach the framework one at a time for each connection.
 */
export function answerClientErrors(
  listener: HttpServer | HttpsServer,
  connections: Connections,
  logger: Logger,
): void {
  // The parser reports each packet that follows an error as another one.
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
    connections.whenOnlyBodiesWait(socket, () => {
      if (!socket.writable || connections.unansweredOn(socket)?.headersSent) {
        socket.destroy();
        return;
      }
      const requestId = randomUUID();
      const { remoteAddress, bytesRead } = socket;
      closeAfter(socket, messageOf(refusal, requestId));
      // A connection that nothing came on is no request: browsers open some ahead.
      const level = bytesRead === 0 ? 'debug' : 'info';
      const { status } = refusal;
      logger[level]({ requestId, status, reason: error.code, remoteAddress }, 'request refused');
    });
  });
  listener.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    refuse(response, EXPECTATION);
  });
  const turns = new Turns();
  // Requests without a Host header: Node would answer them itself, without a body.
  for (const event of ['request', 'checkContinue'] as const) {
    const framework = listener.listeners(event) as RequestListener[];
    listener.removeAllListeners(event);
    listener.on(event, (request: IncomingMessage, response: ServerResponse) => {
      if (request.headers.host === undefined && request.httpVersion === '1.1') refuse(response, NO_HOST);
      else {
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

/** Errors of the connection itself leave no one to answer. */
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
