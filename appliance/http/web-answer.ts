import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import type { ResponseObject, ResponseToolkit } from '@hapi/hapi';

/** The headers of a request for a handler of web standards. */
export function webHeadersOf(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}

/** A response of web standards as one of hapi. */
export function hapiResponseOf(h: ResponseToolkit, { status, headers, body }: Response): ResponseObject {
  const response = h.response(body ? Readable.fromWeb(body as NodeStream) : undefined).code(status);
  for (const [name, value] of headers) response.header(name, value);
  return response;
}
