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
 * Of a body that isn't wanted, this much is still read before the answer: most clients send all before they look,
 * and a connection closed under their hands would cost them the answer.
 */
const MAX_DISCARDED_BYTES = 4 * 1024 * 1024;

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A checked render request without its metadata, and that as the JSON text that was received. */
export interface ReceivedRequest {
  request: ValidRenderRequest;
  metadataJson: string | null;
  /** Equal for equal bodies only. */
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
  // Metadata is any value, thousands of levels deep perhaps, and no business of who checks fields.
  if (metadataJson !== null) body['metadata'] = undefined;
  return { request: parseRenderRequest(body), metadataJson, fingerprint: () => hash('sha256', json) };
}

/** Reads the body to its end, decompressed; 413 when it is too large. */
async function readBody(message: IncomingMessage): Promise<Buffer> {
  // The client left while its key was checked: no event would ever tell.
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
      // Not `pipeline`: it would close the connection along with the decoder, before the answer.
      message.unpipe(decoder);
      decoder.destroy();
    }
    await discardBody(message);
    throw error;
  }
}

/** Reads what is left of a body, within bounds, and forgets it. */
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

/** A copy: V8 keeps a part of a text as a place in the whole, which would stay in memory for as long as the job. */
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
