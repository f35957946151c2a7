import { hash } from 'node:crypto';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ScenepressError } from '../base/errors.ts';
import { parseRenderRequest, type ValidRenderRequest } from '../model/render-request.ts';
import { HttpRejection } from './http-errors.ts';
import { rawMember } from './json-members.ts';

/** The largest body of a render request, after decompression; also the longest code in the playground. */
export const MAX_BODY_BYTES = 204_800;

/** By content encoding. */
const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** A stream that decodes a body; undefined for a body without a known `Content-Encoding`. */
export function decoderOf(contentEncoding: string | null | undefined): Transform | undefined {
  return DECODERS[contentEncoding?.trim().toLowerCase() ?? 'identity']?.();
}

/** A valid render request without its metadata, and the metadata as received JSON text. */
export interface ReceivedRequest {
  request: ValidRenderRequest;
  metadataJson: string | null;
  /** Hash of the body. */
  fingerprint: () => string;
}

/** Checks the body of `POST /api/v2/render`: UTF-8 and JSON, then fields. */
export function receivedRequestOf(bytes: Uint8Array): ReceivedRequest {
  const json = decodeUtf8(bytes);
  const body = parseObject(json);
  const metadataJson = Object.hasOwn(body, 'metadata') ? ownText(rawMember(json, 'metadata')) : null;
  // Stored as text only.
  if (metadataJson !== null) body['metadata'] = undefined;
  return { request: parseRenderRequest(body), metadataJson, fingerprint: () => hash('sha256', json) };
}

const JSON_REQUIRED = 'JSON body required';
const LONGEST_IDEMPOTENCY_KEY = 255;

/** The `Idempotency-Key` header; undefined without one. */
export function idempotencyKeyOf(header: string | string[] | null | undefined): string | undefined {
  if (header === undefined || header === null) return undefined;
  if (typeof header === 'string' && header.length >= 1 && header.length <= LONGEST_IDEMPOTENCY_KEY)
    return header;
  throw new ScenepressError(
    'invalid_request',
    `Idempotency-Key must have 1 to ${LONGEST_IDEMPOTENCY_KEY} characters`,
  );
}

/** The error of a body that is not a JSON object. */
export function bodyRequired(cause?: unknown): ScenepressError {
  return new ScenepressError('invalid_request', JSON_REQUIRED, { cause });
}

/** The error of a content that was not received whole, or is not encoded as it says. */
export function bodyIncomplete(cause: unknown): ScenepressError {
  return new ScenepressError('invalid_request', 'The body was not received whole.', { cause });
}

/** The error of a body of more than `mostBytes`. */
export function tooLarge(mostBytes: number = MAX_BODY_BYTES): HttpRejection {
  return new HttpRejection(413, {
    error: 'Request Entity Too Large',
    message: `The request body is larger than ${mostBytes} bytes.`,
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Error: 400 for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    const message = 'The body is not UTF-8. A source in another encoding must be converted.';
    throw new HttpRejection(400, { error: JSON_REQUIRED, message });
  }
}

/** A copy: a V8 substring keeps the whole body in memory for the lifetime of the job. */
function ownText(part: string | undefined): string | null {
  return part === undefined ? null : Buffer.from(part).toString();
}

/** Error: `invalid_request` for JSON that is not an object. */
export function parseObject(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw bodyRequired(cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bodyRequired();
  return value as Record<string, unknown>;
}
