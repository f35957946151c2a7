import Joi from 'joi';

/** Description of an endpoint for servers and for the OpenAPI document. */
export interface Endpoint {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  operationId: string;
  summary: string;
  description: string;
  tag: string;
  /** Descriptions of the parameters in the path. */
  params?: Record<string, string>;
  /** Parameters of the query, with descriptions. */
  query?: Record<string, Joi.Schema>;
  /** Optional headers of the request: their JSON Schemas, with descriptions. */
  headers?: Record<string, { description: string } & Record<string, unknown>>;
  /** The name and the JSON Schema of its body. */
  body?: { name: string; schema: object; takesFiles?: boolean | undefined };
  /** What its body is if it is no JSON. */
  upload?: { description: string };
  /** By status. */
  responses: Record<number, Answer>;
}

/** A response. */
export interface Answer {
  description: string;
  /** Of its JSON; undefined: it has none. */
  schema?: Joi.Schema;
  /** Descriptions of its integer headers. */
  headers?: Record<string, string>;
  /** Media types of what is no JSON. */
  media?: readonly string[];
}

/** Names a schema in the OpenAPI document, and so in clients generated from it. */
export function named<T extends Joi.Schema>(name: string, schema: T): T {
  return schema.meta({ name }) as T;
}

const errorBody: Joi.ObjectSchema = named(
  'Error',
  Joi.object({
    error: Joi.string().required().description('Short machine-friendly code or summary.'),
    message: Joi.string().description('Human-readable explanation.'),
  }),
);

/** The statuses of responses with an error. */
export type ErrorStatus = 400 | 401 | 402 | 403 | 404 | 409 | 413 | 429 | 503;

const ERRORS: Record<ErrorStatus, string> = {
  400: 'Invalid body or parameters, including malformed JSON.',
  401: 'Missing, malformed, revoked, expired or unknown key, or one without the scope that the request needs.',
  402: 'The balance is below the minimum reserve; no job is created.',
  403: 'The key does not have the scope that the request needs (`insufficient_scope`).',
  404: 'The job does not exist or belongs to another user.',
  409: 'The `Idempotency-Key` was used before with another body.',
  413: 'The body is larger than 204,800 bytes.',
  429:
    'Too many renders of the account failed or were canceled within an hour, it adds jobs or uses its key too often, or ' +
    'its jobs take as many bytes as they may (`too_much_stored`: remove some). Try again after `Retry-After` seconds.',
  503: 'The service is starting or stopping, its disk is full, or the queue is full. Try again after `Retry-After` seconds.',
};

const RETRIED = new Set([429, 503]);

/** The responses with an error of these statuses. */
export function errors(...statuses: ErrorStatus[]): Record<number, Answer> {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: ERRORS[status],
        schema: errorBody,
        ...(RETRIED.has(status) && {
          headers: { 'Retry-After': 'Seconds until the request may be repeated.' },
        }),
      },
    ]),
  );
}
