import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { ExchangeFailure, type ExchangeState } from './exchange-state.ts';

/** What is kept of an answer. */
export const ANSWER_BYTES = 1024;
/** The connection is closed when a body exceeds this: the status is known, and the rest is not read. */
const LONGEST_BODY_BYTES = 64 * 1024;
const LONGEST_HEADERS_BYTES = 16 * 1024;
/** Answers `1xx` before the answer. */
const MOST_INTERIM = 8;

/**
 * Sends the request and reads the answer to its end. `onHead`: status and headers are complete, from now on the status
 * counts even if the exchange is broken off because the answer is too long; call what it is given to end it so.
 */
export async function exchange(
  socket: TLSSocket,
  { target, headers, body }: { target: string; headers: Record<string, string>; body: Uint8Array },
  state: ExchangeState,
  { cutOff, onHead }: { cutOff: AbortSignal; onHead: (isEnough: () => void) => void },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  cutOff.throwIfAborted();
  const giveUp = () => reject(cutOff.reason);
  cutOff.addEventListener('abort', giveUp, { once: true });
  // Without an agent: nothing is shared with other requests, nor asked of a proxy.
  const request = httpRequest({
    createConnection: () => socket,
    method: 'POST',
    path: target,
    headers: { ...headers, 'content-length': String(body.length), connection: 'close' },
    setHost: false,
    maxHeaderSize: LONGEST_HEADERS_BYTES,
  });
  request.once('socket', () => watchStatusLine(socket, state));
  request.on('error', (error: NodeJS.ErrnoException) => {
    reject(error.code?.startsWith('HPE_') ? new ExchangeFailure('protocol', error.message) : error);
  });
  request.once('upgrade', () => reject(new ExchangeFailure('protocol', 'it wants another protocol')));
  let interim = 0;
  request.on('information', () => {
    interim += 1;
    if (interim <= MOST_INTERIM) return;
    reject(new ExchangeFailure('protocol', `more than ${MOST_INTERIM} interim answers (1xx)`));
    // Not once the promise is seen to: thousands may stand in what has arrived already.
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
    response.once('error', reject);
    response.once('close', () => {
      if (response.complete) resolve();
      else reject(new ExchangeFailure('reset', 'the answer was broken off'));
    });
  });
  state.sent = true;
  request.end(body);
  try {
    await promise;
  } finally {
    cutOff.removeEventListener('abort', giveUp);
    request.destroy();
  }
}

/** A status counts from its line on, also when the headers after it never end. */
function watchStatusLine(socket: TLSSocket, state: ExchangeState): void {
  let head = '';
  const read = (chunk: Buffer) => {
    head += chunk.toString('latin1', 0, 64);
    const status = /^HTTP\/1\.[01] ([2-5]\d\d)[ \r\n]/.exec(head)?.[1];
    if (status) state.status = Number(status);
    if (status || head.length >= 64) socket.off('data', read);
  };
  socket.on('data', read);
}
