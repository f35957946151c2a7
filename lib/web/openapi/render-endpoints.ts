import Joi from 'joi';
import { ARTIFACT_NAMES, ARTIFACTS, type ArtifactName, CONTRACT_ARTIFACTS } from '../../model/artifacts.ts';
import { RENDER_REQUEST_SCHEMA } from '../../model/render-request.ts';
import { type Endpoint, errors, named } from './endpoint.ts';

/** The groups of endpoints, with descriptions. */
export const TAGS = {
  Renders: 'Jobs: enqueue one, and ask for its outcome.',
  Account: 'The account behind an API key.',
};

const jobId = Joi.string().required().description('Opaque job identifier.');
const endpoint = Joi.string().valid('render').required();
const credits = Joi.number().integer().min(0).required();

const enqueuedBody = named(
  'EnqueuedRender',
  Joi.object({ jobId, status: Joi.string().valid('queued').required(), endpoint }),
);

/** Links to artifacts. */
function resultOf(names: readonly ArtifactName[]): Joi.Schema {
  const links = names.map((name) => {
    const { field, format, description, isRequired } = ARTIFACTS[name];
    const url = Joi.string().uri().description(description);
    return [field, isRequired && format === null ? url.required() : url];
  });
  return Joi.object(Object.fromEntries(links))
    .allow(null)
    .required()
    .description('Populated only when `status` is `completed`.');
}

/** Links to all artifacts that a job may have. */
export const RESULT_OF_ALL: Joi.Schema = resultOf(ARTIFACT_NAMES);

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
    result: resultOf(CONTRACT_ARTIFACTS),
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

/** The optional header of requests that add jobs. */
export const IDEMPOTENCY_HEADER: NonNullable<Endpoint['headers']> = {
  'Idempotency-Key': {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description:
      'Makes the request repeatable: for a day, a request with the same key and body gets the first response, and ' +
      'no second job is created. Send one with each request, such as a UUID, and repeat it after network errors, ' +
      '429 and 503.',
  },
};

export const ENQUEUE: Endpoint = {
  method: 'POST',
  path: '/api/v2/render',
  operationId: 'enqueueRender',
  summary: 'Enqueue a render',
  description:
    'Reserves credits and queues a job, which is durable when the response is sent. Poll the job, or receive its ' +
    'outcome at `webhookUrl`.',
  tag: 'Renders',
  headers: IDEMPOTENCY_HEADER,
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
  responses: { 200: { description: 'The job.', schema: jobBody }, ...errors(401, 404, 429) },
};

export const GET_ACCOUNT: Endpoint = {
  method: 'GET',
  path: '/api/v2/me',
  operationId: 'getAccount',
  summary: 'Get the account and its credit balance',
  description: 'The user and the key of the request, and what the account can spend.',
  tag: 'Account',
  responses: {
    200: { description: 'The account behind the key.', schema: accountBody },
    ...errors(401, 429),
  },
};

export const ENDPOINTS: Endpoint[] = [ENQUEUE, GET_JOB, GET_ACCOUNT];
