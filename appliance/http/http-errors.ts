import { type Boom, isBoom } from '@hapi/boom';
import type { Lifecycle } from '@hapi/hapi';
import type { Logger } from '../../lib/index.ts';
import { isScenepressError } from '../../lib/internal.ts';
import { answerTo, type HttpError, HttpRejection, isLogged, nothingHere } from '../../lib/web/index.ts';
import { requestIdOf } from './request-id.ts';

/** Creates the response for any error: of the library, of hapi, or from a bug. */
export function httpErrorOf(error: Error): HttpError {
  const isOurs = isScenepressError(error) || error instanceof HttpRejection;
  return !isOurs && isBoom(error) && !error.isServer ? ofFramework(error) : answerTo(error);
}

function ofFramework({ output }: Boom): HttpError {
  const { error, message } = output.payload;
  const headers = Object.fromEntries(
    Object.entries(output.headers).map(([name, value]) => [name, String(value)]),
  );
  if (output.statusCode === 404 && message === error) return nothingHere().answer;
  return {
    status: output.statusCode,
    headers,
    body: { error, message: message === error ? undefined : message },
  };
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
    if (status >= 500 && isLogged(response)) logger?.error({ requestId, err: response }, 'request failed');
    const answer = h.response(body).code(status).header(REQUEST_ID, requestId);
    for (const [name, value] of Object.entries(headers)) answer.header(name, value);
    return answer;
  };
}
