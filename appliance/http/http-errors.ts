import { type Boom, isBoom } from '@hapi/boom';
import type { Lifecycle } from '@hapi/hapi';
import {
  DISK_FULL_TO_CLIENTS,
  isScenepressError,
  type Logger,
  type ScenepressError,
} from '../../lib/index.ts';
import { unauthorized } from './render-api/bearer.ts';
import { requestIdOf } from './request-id.ts';

/** The HTTP response for an error. */
export interface HttpError {
  status: number;
  headers: Record<string, string>;
  body: { error: string; message?: string | undefined };
}

const NOTHING_HERE = 'There is nothing at this address.';
const TRY_AGAIN = { 'retry-after': '5' };

/** Creates the response for any error: of the library, of hapi, or from a bug. */
export function httpErrorOf(error: Error): HttpError {
  if (isScenepressError(error)) return ofLibrary(error);
  if (isBoom(error) && !error.isServer) return ofFramework(error);
  return {
    status: 500,
    headers: {},
    body: {
      error: 'Internal Server Error',
      message: 'The service failed. The log has the cause, under the Request-Id of this response.',
    },
  };
}

function ofLibrary({ code, message, retryAfterMs = 0 }: ScenepressError): HttpError {
  switch (code) {
    case 'invalid_request':
      return { status: 400, headers: {}, body: { error: message } };
    case 'insufficient_credits':
      return { status: 402, headers: {}, body: { error: 'insufficient_credits', message } };
    case 'owner_refused':
      // The account was disabled or deleted after its key was checked.
      return ofFramework(unauthorized());
    case 'not_found':
      return { status: 404, headers: {}, body: { error: 'Not Found', message } };
    case 'conflict':
      return { status: 409, headers: {}, body: { error: 'Conflict', message } };
    case 'artifact_gone':
      return { status: 410, headers: {}, body: { error: 'Gone', message } };
    case 'too_many_failures':
      return {
        status: 429,
        headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
        body: { error: 'Too Many Requests', message },
      };
    case 'queue_full':
      return {
        status: 503,
        headers: { 'retry-after': '30' },
        body: { error: 'Service Unavailable', message },
      };
    case 'storage_full':
      return {
        status: 503,
        headers: { 'retry-after': '30' },
        body: {
          error: 'Service Unavailable',
          message: DISK_FULL_TO_CLIENTS,
        },
      };
    case 'not_running':
    case 'renderer_unavailable':
    case 'storage_failed':
      // Their messages are for the operator: they name folders and programs.
      return {
        status: 503,
        headers: TRY_AGAIN,
        body: {
          error: 'Service Unavailable',
          message: 'The service can’t accept this request now. Try again shortly.',
        },
      };
    case 'storage_locked':
    case 'storage_damaged':
    case 'master_key':
      return httpErrorOf(new Error(message));
  }
}

function ofFramework({ output }: Boom): HttpError {
  const { error, message } = output.payload;
  const headers = Object.fromEntries(
    Object.entries(output.headers).map(([name, value]) => [name, String(value)]),
  );
  const said = message === error ? undefined : message;
  return {
    status: output.statusCode,
    headers,
    body: { error, message: said ?? (output.statusCode === 404 ? NOTHING_HERE : undefined) },
  };
}

/** Whether the condition is logged once when it begins, not per request. */
function isKnown(error: Error): boolean {
  return isScenepressError(error, 'queue_full', 'storage_full', 'not_running');
}

/** In lower case, because hapi would otherwise convert it for each response. */
const REQUEST_ID = 'request-id';

/** For `onPreResponse`: sends errors as `{ error, message }`, logs their causes and adds the request id. */
export function answerErrors(logger?: Logger): Lifecycle.Method {
  return (request, h) => {
    const { response } = request;
    const requestId = requestIdOf(request);
    if (!(response instanceof Error)) {
      response.header(REQUEST_ID, requestId);
      return h.continue;
    }
    const { status, headers, body } = httpErrorOf(response);
    if (status >= 500 && !isKnown(response)) logger?.error({ requestId, err: response }, 'request failed');
    const answer = h.response(body).code(status).header(REQUEST_ID, requestId);
    for (const [name, value] of Object.entries(headers)) answer.header(name, value);
    return answer;
  };
}
