import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { entityTooLarge } from '@hapi/boom';
import { parseRenderRequest, ScenepressError, type ValidRenderRequest } from '../../../lib/index.ts';
import { rawMember } from './json-members.ts';

/** The largest body, after decompression. */
export const MAX_BODY_BYTES = 204_800;

/**
 * Maximum size of an unwanted body that is read before the response: most clients send the whole body before they
 * read, and would lose the response if the connection were closed earlier.
 */
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A valid render request without its metadata, and the metadata as received JSON text. */
export interface ReceivedRequest {
  request: ValidRenderRequest;
  metadataJson: string | null;
  /** Hash of the body. */
  fingerprint: () => string;
}

const LONGEST_IDEMPOTENCY_KEY = 255;

/** The `Idempotency-Key` header; undefined without one. */
export function idempotencyKeyOf(message: IncomingMessage): string | undefined {
  const key = message.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key.length >= 1 && key.length <= LONGEST_IDEMPOTENCY_KEY) return key;
  throw new ScenepressError(
    'invalid_request',
    `Idempotency-Key must have 1 to ${LONGEST_IDEMPOTENCY_KEY} characters`,
  );
}

/** Reads and checks the body of `POST /api/v2/render`: size, then UTF-8 and JSON, then fields. */
export async function receiveRenderRequest(message: IncomingMessage): Promise<ReceivedRequest> {
  const json = decodeUtf8(await readBody(message));
  const body = parseObject(json);
  const metadataJson = Object.hasOwn(body, 'metadata') ? ownText(rawMember(json, 'metadata')) : null;
  // Stored as text only.
  if (metadataJson !== null) body['metadata'] = undefined;
  return { request: parseRenderRequest(body), metadataJson, fingerprint: () => hash('sha256', json) };
}

/** Reads the body to its end, decompressed; 413 when it is too large. */
async function readBody(message: IncomingMessage): Promise<Buffer> {
  // The client disconnected while its key was checked: no more events will follow.
  if (message.destroyed && !message.readableEnded) throw bodyRequired();
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decoder = DECODERS[encoding]?.();
  const source = decoder ? message.pipe(decoder) : message;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  source.on('data', (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) reject(tooLarge());
    else chunks.push(chunk);
  });
  source.once('end', () => resolve(Buffer.concat(chunks)));
  source.once('error', (cause) => reject(bodyRequired(cause)));
  message.once('error', (cause) => reject(bodyRequired(cause)));
  try {
    return await promise;
  } catch (error) {
    source.removeAllListeners('data');
    if (decoder) {
      // Not `pipeline`, which would destroy the connection with the decoder, before the response.
      message.unpipe(decoder);
      decoder.destroy();
    }
    await discardBody(message);
    throw error;
  }
}

/** Reads and discards the rest of a body, up to a limit. */
export async function discardBody(message: IncomingMessage): Promise<void> {
  if (message.readableEnded || message.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let sizeBytes = 0;
  const count = (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_DISCARDED_BYTES) resolve();
  };
  message.on('data', count).once('end', resolve).once('close', resolve);
  message.resume();
  await promise;
  message.off('data', count);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw bodyRequired(cause);
  }
}

/** A copy: a V8 substring keeps the whole body in memory for the lifetime of the job. */
function ownText(part: string | undefined): string | null {
  return part === undefined ? null : Buffer.from(part).toString();
}

function parseObject(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw bodyRequired(cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bodyRequired();
  return value as Record<string, unknown>;
}

function bodyRequired(cause?: unknown): ScenepressError {
  return new ScenepressError('invalid_request', 'JSON body required', { cause });
}

function tooLarge(): Error {
  return entityTooLarge(`The request body is larger than ${MAX_BODY_BYTES} bytes.`);
}
