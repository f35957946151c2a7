import Joi from 'joi';
import { RENDER_REQUEST_SCHEMA } from '../../../lib/index.ts';
import { ARTIFACTS } from '../../../lib/internal.ts';

/** The groups of endpoints, with descriptions. */
export const TAGS = {
  Renders: 'Jobs: enqueue one, and ask for its outcome.',
  Account: 'The account behind an API key.',
};

/** Description of an endpoint for hapi and the OpenAPI document. */
export interface Endpoint {
  method: 'GET' | 'POST';
  path: string;
  operationId: string;
  summary: string;
  description: string;
  tag: keyof typeof TAGS;
  /** Descriptions of the parameters in the path. */
  params?: Record<string, string>;
  /** Optional headers of the request: their JSON Schemas, with descriptions. */
  headers?: Record<string, { description: string } & Record<string, unknown>>;
  /** The name and the JSON Schema of its body. */
  body?: { name: string; schema: object };
  /** By status: the schema of the response, and descriptions of its integer headers. */
  responses: Record<number, { description: string; schema: Joi.Schema; headers?: Record<string, string> }>;
}

/** Names a schema in the OpenAPI document, and so in clients generated from it. */
function named<T extends Joi.Schema>(name: string, schema: T): T {
  return schema.meta({ name }) as T;
}

const errorBody = named(
  'Error',
  Joi.object({
    error: Joi.string().required().description('Short machine-friendly code or summary.'),
    message: Joi.string().description('Human-readable explanation.'),
  }),
);

const ERRORS = {
  400: 'Invalid body or parameters, including malformed JSON.',
  401: 'Missing, malformed, revoked, expired or unknown key, or one without the scope that the request needs.',
  402: 'The balance is below the minimum reserve; no job is created.',
  404: 'The job does not exist or belongs to another user.',
  409: 'The `Idempotency-Key` was used before with another body.',
  413: 'The body is larger than 204,800 bytes.',
  429:
    'Too many renders of the account failed or were canceled within an hour, it adds jobs too often, or its jobs take as ' +
    'many bytes as they may (`too_much_stored`: remove some). Try again after `Retry-After` seconds.',
  503: 'The service is starting or stopping, its disk is full, or the queue is full. Try again after `Retry-After` seconds.',
};

const RETRIED = new Set([429, 503]);

function errors(...statuses: (keyof typeof ERRORS)[]): Endpoint['responses'] {
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

const jobId = Joi.string().required().description('Opaque job identifier.');
const endpoint = Joi.string().valid('render').required();
const credits = Joi.number().integer().min(0).required();

const enqueuedBody = named(
  'EnqueuedRender',
  Joi.object({ jobId, status: Joi.string().valid('queued').required(), endpoint }),
);

/** A job, also as the body of a webhook. */
export const jobBody: Joi.ObjectSchema = named(
  'RenderJob',
  Joi.object({
    jobId,
    endpoint,
    status: Joi.string().valid('queued', 'running', 'completed', 'failed').required(),
    creditsCost: credits.description('Credits consumed so far. 0 until the job completes.'),
    durationMs: Joi.number()
      .integer()
      .min(0)
      .allow(null)
      .required()
      .description('Render wall-clock time; null until the job is terminal.'),
    result: Joi.object(
      Object.fromEntries(
        Object.values(ARTIFACTS).map(({ field, description, isRequired }) => {
          const url = Joi.string().uri().description(description);
          return [field, isRequired ? url.required() : url];
        }),
      ),
    )
      .allow(null)
      .required()
      .description('Populated only when `status` is `completed`.'),
    error: Joi.string().allow(null).required().description('Populated only when `status` is `failed`.'),
    metadata: Joi.any()
      .required()
      .description("The request's `metadata`, unchanged; null when none was given."),
    createdAt: Joi.string().isoDate().required().description('When it was enqueued.'),
    completedAt: Joi.string().isoDate().allow(null).required().description('When it became terminal.'),
  }),
);

const accountBody = named(
  'Account',
  Joi.object({
    userId: Joi.string().required().description('The user that owns the key.'),
    keyId: Joi.string().required().description('The key used for this request.'),
    keyPrefix: Joi.string().required().description('Display prefix of the key. Safe to show in a UI.'),
    credits: Joi.object({
      paid: credits.description('Purchased credits.'),
      free: credits.description("What is left of the plan's monthly allowance."),
      total: credits,
    }).required(),
  }),
);

export const ENQUEUE: Endpoint = {
  method: 'POST',
  path: '/api/v2/render',
  operationId: 'enqueueRender',
  summary: 'Enqueue a render',
  description:
    'Reserves credits and queues a job, which is durable when the response is sent. Poll the job, or receive its ' +
    'outcome at `webhookUrl`.',
  tag: 'Renders',
  headers: {
    'Idempotency-Key': {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description:
        'Makes the request repeatable: for a day, a request with the same key and body gets the first response, and ' +
        'no second job is created. Send one with each request, such as a UUID, and repeat it after network errors, ' +
        '429 and 503.',
    },
  },
  body: { name: 'RenderRequest', schema: RENDER_REQUEST_SCHEMA },
  responses: {
    202: { description: 'The job is queued.', schema: enqueuedBody },
    ...errors(400, 401, 402, 409, 413, 429, 503),
  },
};

export const GET_JOB: Endpoint = {
  method: 'GET',
  path: '/api/v2/render/{jobId}',
  operationId: 'getRender',
  summary: 'Get a render job',
  description:
    'The state of a job. Poll it until `status` is `completed` or `failed`, at growing intervals. A failed render is ' +
    'no HTTP error: its cause is in `error`.',
  tag: 'Renders',
  params: { jobId: 'The `jobId` of the response to the POST.' },
  responses: { 200: { description: 'The job.', schema: jobBody }, ...errors(401, 404) },
};

export const GET_ACCOUNT: Endpoint = {
  method: 'GET',
  path: '/api/v2/me',
  operationId: 'getAccount',
  summary: 'Get the account and its credit balance',
  description: 'The user and the key of the request, and what the account can spend.',
  tag: 'Account',
  responses: { 200: { description: 'The account behind the key.', schema: accountBody }, ...errors(401) },
};

export const ENDPOINTS: Endpoint[] = [ENQUEUE, GET_JOB, GET_ACCOUNT];
