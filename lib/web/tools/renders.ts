import { hash } from 'node:crypto';
import Joi from 'joi';
import { MOST_TOGETHER } from '../../jobs/accept/new-jobs.ts';
import type { EnqueueRequest, RenderAgainOptions } from '../../model/requests.ts';
import { traceContextIn } from '../../tracing/trace-context.ts';
import { rawMember } from '../json-members.ts';
import { named } from '../openapi/endpoint.ts';
import { IDEMPOTENCY_HEADER } from '../openapi/render-endpoints.ts';
import { idempotencyKeyOf } from '../request-body.ts';
import { CLASS_NAME, CODE, JOB, RENDER } from './fields.ts';
import { json, jsonText, TOOLS_PATH, type ToolCall, type ToolRoute } from './route.ts';
import { toolErrors } from './tool-errors.ts';
import { toolJobJson } from './tool-job.ts';
import { isEnded, WAIT_SECONDS, waited } from './wait.ts';

const JOB_BYTES = 1024 * 1024;
const BATCH_BYTES = 8 * 1024 * 1024;
/** As of a render request of the contract. */
const MOST_JOB_BYTES = 204_800;
const PREFER = {
  type: 'string',
  description: '`wait=N`: answers the job when it has ended, within N seconds, at most 60.',
};

/** What adds jobs. */
export const RENDER_ROUTES: readonly ToolRoute[] = [
  {
    method: 'POST',
    path: `${TOOLS_PATH}/jobs`,
    operationId: 'addJob',
    summary: 'Enqueue a render',
    description:
      'As `POST /api/v2/render`, with fields that the contract does not have. With `Prefer: wait=N` it answers the finished ' +
      'job. A form (`multipart/form-data`) has the JSON in its first part, `request`, and files in the others, under the names ' +
      'by which the scene finds them: only this job has them.',
    tag: 'Renders',
    scopes: ['render'],
    headers: { ...IDEMPOTENCY_HEADER, Prefer: PREFER },
    body: {
      name: 'JobRequest',
      mostBytes: JOB_BYTES,
      takesFiles: true,
      schema: Joi.object(RENDER),
    },
    responses: {
      200: { description: 'The job has ended.', schema: JOB },
      202: { description: 'The job is queued.', schema: JOB },
      ...toolErrors(400, 401, 402, 403, 404, 409, 413, 429, 503),
    },
    answer: add,
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/jobs/batch`,
    operationId: 'addJobs',
    summary: 'Enqueue several renders, all or none',
    description: `At most ${MOST_TOGETHER}, each of at most 200 KB. One \`Idempotency-Key\` covers all of them.`,
    tag: 'Renders',
    scopes: ['render'],
    headers: IDEMPOTENCY_HEADER,
    body: {
      name: 'BatchRequest',
      mostBytes: BATCH_BYTES,
      schema: Joi.object({
        jobs: Joi.array().items(Joi.object(RENDER)).min(1).max(MOST_TOGETHER).required(),
      }),
    },
    responses: {
      202: {
        description: 'The jobs are queued, in the order of the request.',
        schema: named('Batch', Joi.object({ jobs: Joi.array().items(JOB).required() })),
      },
      ...toolErrors(400, 401, 402, 403, 404, 409, 413, 429, 503),
    },
    answer: addAll,
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/jobs/{jobId}/again`,
    operationId: 'renderAgain',
    summary: 'Render a job again, with changes',
    description: 'Enqueues a copy of a job. Equal frames are copied from its video.',
    tag: 'Renders',
    scopes: ['render'],
    params: { jobId: 'The id of the job.' },
    headers: IDEMPOTENCY_HEADER,
    body: {
      name: 'AgainRequest',
      mostBytes: JOB_BYTES,
      takesFiles: true,
      isOptional: true,
      schema: Joi.object({ ...RENDER, code: CODE, className: CLASS_NAME }),
    },
    responses: {
      202: { description: 'The new job.', schema: JOB },
      ...toolErrors(400, 401, 402, 403, 404, 409, 413, 429, 503),
    },
    answer: again,
  },
];

async function add(call: ToolCall): Promise<Response> {
  const { service, caller, body, text, links } = call;
  const { metadata: _, ...fields } = body;
  const metadataJson = 'metadata' in body ? (rawMember(text, 'metadata') ?? null) : null;
  const { owner, keyId, webhookUrl } = caller;
  const request = {
    ...{ webhookUrl, ...fields, owner, keyId, metadataJson },
    ...idempotencyOf(call),
    ...traceContextIn(call.headers),
  };
  const job = await service.enqueue(request as EnqueueRequest);
  const seconds = secondsToWait(call);
  if (seconds === undefined) return jsonText(202, toolJobJson(job, links));
  const ended = await waited(call, job.jobId, seconds);
  const headers = { 'preference-applied': `wait=${seconds}` };
  return jsonText(isEnded(ended) ? 200 : 202, toolJobJson(ended, links), headers);
}

async function addAll(call: ToolCall): Promise<Response> {
  const { service, caller, body, links } = call;
  const { owner, keyId, webhookUrl } = caller;
  const { jobs } = body as { jobs: Record<string, unknown>[] };
  const large = jobs.findIndex((job) => Buffer.byteLength(JSON.stringify(job)) > MOST_JOB_BYTES);
  if (large >= 0) return json(400, { error: `jobs[${large}] is larger than ${MOST_JOB_BYTES} bytes` });
  const common = { owner, keyId, ...traceContextIn(call.headers) };
  const requests = jobs.map((job) => ({ webhookUrl, ...job, ...common }) as unknown as EnqueueRequest);
  const added = await service.enqueueMany(requests, idempotencyOf(call));
  return jsonText(202, `{"jobs":[${added.map((job) => toolJobJson(job, links)).join()}]}`);
}

async function again(call: ToolCall): Promise<Response> {
  const { service, caller, params, body, text, links, headers } = call;
  const { metadata: _, ...fields } = body;
  const metadata = 'metadata' in body ? { metadataJson: rawMember(text, 'metadata') ?? null } : {};
  const changes = { ...fields, ...metadata, keyId: caller.keyId, ...traceContextIn(headers) } as NonNullable<
    RenderAgainOptions['changes']
  >;
  const options = { owner: caller.owner, changes, ...idempotencyOf(call) };
  return jsonText(202, toolJobJson(await service.renderAgain(params['jobId'] ?? '', options), links));
}

function idempotencyOf({ headers, text, params }: ToolCall): Pick<EnqueueRequest, 'idempotency'> {
  const key = idempotencyKeyOf(headers.get('idempotency-key'));
  const fingerprint = hash('sha256', `${params['jobId'] ?? ''} ${text}`);
  return key === undefined ? {} : { idempotency: { key, fingerprint } };
}

/** The seconds of `Prefer: wait=N`; undefined without it (RFC 7240: what is not understood is ignored). */
function secondsToWait({ headers }: ToolCall): number | undefined {
  const [, seconds] = /(?:^|[,;]\s*)wait\s*=\s*"?(\d+)"?/i.exec(headers.get('prefer') ?? '') ?? [];
  if (seconds === undefined) return undefined;
  const { value } = WAIT_SECONDS.validate(Math.min(60, Number(seconds)));
  return value as number;
}
