import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { abortable } from '../async/abortable.ts';
import type { FailureReason } from '../storage/delivery.ts';

/** The stored part of a response body. */
export const ANSWER_BYTES = 1024;
/** The connection is closed when a body exceeds this; the status is already known. */
const LONGEST_BODY_BYTES = 64 * 1024;
const LONGEST_HEADERS_BYTES = 16 * 1024;
/** Maximum number of interim responses (`1xx`). */
const MOST_INTERIM = 8;

/** The state of an exchange, for its result however it ends. */
export interface ExchangeState {
  status: number;
  answer: Buffer[];
  sent: boolean;
  /** Destroyed at the end. */
  sockets: Duplex[];
}

/** Thrown when an exchange fails. */
export class ExchangeFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Sends the request and reads the whole response. `onHead` is called when status and headers are complete: from then
 * on the status counts even if the body is too long; call its argument to end the exchange in that case. `headers`
 * include `host`.
 */
export async function exchange(
  socket: TLSSocket,
  { target, headers, body }: { target: string; headers: Record<string, string>; body: Uint8Array },
  state: ExchangeState,
  { signal, onHead }: { signal: AbortSignal; onHead: (isEnough: () => void) => void },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  signal.throwIfAborted();
  // Without an agent: no connection is shared and no proxy used.
  const request = httpRequest({
    createConnection: () => socket,
    method: 'POST',
    path: target,
    headers: { ...headers, 'content-length': String(body.length), connection: 'close' },
    maxHeaderSize: LONGEST_HEADERS_BYTES,
  });
  request.once('socket', () => watchStatusLine(socket, state));
  request.on('error', (error: NodeJS.ErrnoException) => {
    reject(error.code?.startsWith('HPE_') ? new ExchangeFailure('protocol', error.message) : error);
  });
  request.once('upgrade', () =>
    reject(new ExchangeFailure('protocol', 'the receiver asks for a protocol upgrade')),
  );
  let interim = 0;
  request.on('information', () => {
    interim += 1;
    if (interim <= MOST_INTERIM) return;
    reject(new ExchangeFailure('protocol', `more than ${MOST_INTERIM} interim responses (1xx)`));
    // Destroyed immediately: the received data may hold thousands more.
    request.destroy();
  });
  request.once('response', (response: IncomingMessage) => {
    state.status = response.statusCode ?? 0;
    onHead(resolve);
    let sizeBytes = 0;
    response.on('data', (chunk: Buffer) => {
      if (sizeBytes < ANSWER_BYTES)
        state.answer.push(Buffer.from(chunk.subarray(0, ANSWER_BYTES - sizeBytes)));
      sizeBytes += chunk.length;
      if (sizeBytes > LONGEST_BODY_BYTES) resolve();
    });
    // Emitted before `close` when the response is incomplete.
    response.once('error', () =>
      reject(new ExchangeFailure('reset', 'the connection closed before the end of the response')),
    );
    response.once('close', resolve);
  });
  state.sent = true;
  request.end(body);
  try {
    await abortable(promise, signal);
  } finally {
    request.destroy();
  }
}

/** The start of a status line, as in `HTTP/1.1 200 OK`. */
const STATUS = /^HTTP\/1\.[01] ([2-5]\d\d)[ \r\n]/;
const STATUS_BYTES = 13;

/** Records the status as soon as its line arrives, even if the headers never end. */
function watchStatusLine(socket: TLSSocket, state: ExchangeState): void {
  let head = '';
  const read = (chunk: Buffer) => {
    head += String(chunk.subarray(0, STATUS_BYTES));
    if (head.length < STATUS_BYTES) return;
    socket.off('data', read);
    const status = STATUS.exec(head)?.[1];
    if (status) state.status = Number(status);
  };
  socket.on('data', read);
}
