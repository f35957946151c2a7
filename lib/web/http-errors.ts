import { STATUS_CODES } from 'node:http';
import { isScenepressError, type ScenepressError } from '../base/errors.ts';
import { DISK_FULL_TO_CLIENTS } from '../model/service-problems.ts';

/** The HTTP response for an error. */
export interface HttpError {
  /** From 400 to 599. */
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Sent as JSON. */
  body: { error: string; message?: string | undefined };
}

const TRY_AGAIN = { 'retry-after': '5' };
const TRY_LATER = { 'retry-after': '30' };
/** Something must be removed before. */
const TRY_MUCH_LATER = { 'retry-after': '600' };
const INTERNAL: HttpError = {
  status: 500,
  headers: {},
  body: {
    error: 'Internal Server Error',
    message: 'The service failed. The log has the cause, under the Request-Id of this response.',
  },
};

/** A request that is rejected for a reason of HTTP. */
export class HttpRejection extends Error {
  readonly answer: HttpError;

  /** `headers`: names in lower case. */
  constructor(
    status: number,
    body: { error: string; message: string },
    headers: Record<string, string> = {},
  ) {
    super(body.message);
    this.name = 'HttpRejection';
    this.answer = { status, headers, body };
  }
}

/** The error of a request without a live key. */
export function unauthorized(
  message = 'The API key is invalid or missing.',
  challenge = 'Bearer',
): HttpRejection {
  return new HttpRejection(401, { error: 'Unauthorized', message }, { 'www-authenticate': challenge });
}

/** The error of an unknown address. */
export function nothingHere(): HttpRejection {
  return new HttpRejection(404, { error: 'Not Found', message: 'There is nothing at this address.' });
}

/**
 * The response of the HTTP API for an error (contract §7). An error of another library has the status that it names by
 * `statusCode` or `status`, from 400 to 599, as those of Fastify's and Express' parsers of bodies do; its message is sent
 * below 500, unless its `expose` is false. Any other error: 500 without details.
 *
 * ```ts
 * const { status, headers, body } = httpErrorOf(error);
 * response.writeHead(status, headers).end(JSON.stringify(body));
 * ```
 */
export function httpErrorOf(error: unknown): HttpError {
  return error instanceof HttpRejection || isScenepressError(error) ? answerTo(error) : ofAnother(error);
}

/**
 * The response of our own endpoints for an error. In these, an error of another library is one of a store, a ledger or
 * `authenticate`: a status that it has is that of a server which they called, and means nothing to our client.
 */
export function answerTo(error: unknown): HttpError {
  if (error instanceof HttpRejection) return error.answer;
  return isScenepressError(error) ? ofLibrary(error) : INTERNAL;
}

/** What errors of frameworks and of their parsers have, by the convention of `http-errors`. */
interface WithStatus {
  statusCode?: unknown;
  status?: unknown;
  expose?: unknown;
  message?: unknown;
}

function ofAnother(error: unknown): HttpError {
  const { statusCode, status: other, expose, message } = (error ?? {}) as WithStatus;
  const status = [statusCode, other].find(isErrorStatus);
  if (status === undefined) return INTERNAL;
  const isShown = status < 500 && expose !== false && typeof message === 'string';
  const name = STATUS_CODES[status] ?? 'Error';
  return {
    status,
    headers: {},
    body: { error: name, message: isShown ? message : status < 500 ? undefined : INTERNAL.body.message },
  };
}

function isErrorStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) < 600;
}

/**
 * The HTTP status that suits an error: 400 for `invalid_request`, 402 for `insufficient_credits`, 404 for
 * `not_found` and so on, 503 for temporary conditions; for errors of other libraries the status that they name
 * ({@link httpErrorOf}), 500 for any other error.
 *
 * ```ts
 * try {
 *   response.status(202).json(await service.enqueue(request.body));
 * } catch (error) {
 *   response.status(httpStatusOf(error)).json({ error: String(error) });
 * }
 * ```
 */
export function httpStatusOf(error: unknown): number {
  return httpErrorOf(error).status;
}

function ofLibrary({ code, message, retryAfterMs = 0 }: ScenepressError): HttpError {
  switch (code) {
    case 'invalid_request':
      return { status: 400, headers: {}, body: { error: message } };
    case 'insufficient_credits':
      return { status: 402, headers: {}, body: { error: 'insufficient_credits', message } };
    case 'owner_refused':
      // The account was disabled or deleted after its key was checked.
      return unauthorized().answer;
    case 'not_found':
      return { status: 404, headers: {}, body: { error: 'Not Found', message } };
    case 'conflict':
      return { status: 409, headers: {}, body: { error: 'Conflict', message } };
    case 'artifact_gone':
      return { status: 410, headers: {}, body: { error: 'Gone', message } };
    case 'too_many_failures':
    case 'too_many_requests':
      return {
        status: 429,
        headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
        body: { error: 'Too Many Requests', message },
      };
    case 'too_much_stored':
      return { status: 429, headers: TRY_MUCH_LATER, body: { error: 'too_much_stored', message } };
    case 'queue_full':
      return unavailable(message, TRY_LATER);
    case 'storage_full':
      return unavailable(DISK_FULL_TO_CLIENTS, TRY_LATER);
    // These messages are for the operator: they name folders and programs.
    case 'renderer_unavailable':
      return unavailable(
        'This server has no renderer now. Try again shortly, or ask another one.',
        TRY_AGAIN,
      );
    case 'not_running':
    case 'storage_failed':
      return unavailable("The service can't accept this request now. Try again shortly.", TRY_AGAIN);
    case 'storage_locked':
    case 'storage_damaged':
    case 'master_key':
      return INTERNAL;
  }
}

/** Whether the cause of a response is logged: not for conditions that are logged when they begin. */
export function isLogged(error: unknown): boolean {
  return (
    answerTo(error).status >= 500 && !isScenepressError(error, 'queue_full', 'storage_full', 'not_running')
  );
}

function unavailable(message: string, headers: Record<string, string>): HttpError {
  return { status: 503, headers, body: { error: 'Service Unavailable', message } };
}
