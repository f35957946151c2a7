import Joi from 'joi';
import { CHANGED_LABELS } from '../../jobs/accept/labels.ts';
import { MOST_TOGETHER } from '../../jobs/accept/new-jobs.ts';
import type { Job } from '../../model/job.ts';
import type { ArtifactLinks } from '../../model/job-json.ts';
import type { JobListQuery } from '../../model/job-list-query.ts';
import type { JobSearch } from '../../model/job-search.ts';
import { QUALITY_NAMES } from '../../model/qualities.ts';
import type { JobLabels } from '../../model/requests.ts';
import { named } from '../openapi/endpoint.ts';
import { JOB, WAITING_JOB, WHOLE_JOB } from './fields.ts';
import { jsonText, TOOLS_PATH, type ToolCall, type ToolRoute } from './route.ts';
import { toolErrors } from './tool-errors.ts';
import { toolJobJson } from './tool-job.ts';
import { isEnded, WAIT_SECONDS, waited } from './wait.ts';

type Labels = Pick<JobSearch, 'text' | 'tag' | 'project' | 'starred'>;

const LIMIT = 50;
/** More than all labels take. */
const LABELS_BYTES = 32 * 1024;
const ID = { jobId: 'The id of the job.' };
const time = (description: string) => Joi.date().iso().description(description);

/** Jobs that there are. */
export const JOB_ROUTES: readonly ToolRoute[] = [
  {
    method: 'GET',
    path: `${TOOLS_PATH}/jobs`,
    operationId: 'listJobs',
    summary: 'List jobs',
    description: 'Jobs of the account, newest first. For the next page repeat the query with `cursor`.',
    tag: 'Jobs',
    scopes: ['read'],
    query: {
      status: Joi.valid('queued', 'running', 'completed', 'failed').description(
        'Only those with this status.',
      ),
      quality: Joi.valid(...QUALITY_NAMES).description('Only those of this quality.'),
      text: Joi.string()
        .max(1000)
        .description(
          'Only those with words that begin so, in title, tags, project, class name, code, metadata, said texts, captions, error or id. A page may be short before the end.',
        ),
      tag: Joi.string().description('Only those with this tag.'),
      project: Joi.string().description('Only those of this project.'),
      starred: Joi.boolean().description('Only those that are marked, or not.'),
      since: time('Only those created at this time or later, ISO 8601.'),
      until: time('Only those created before this time, ISO 8601.'),
      limit: Joi.number().integer().min(1).max(MOST_TOGETHER).description(`Default: ${LIMIT}.`),
      cursor: Joi.string().description('The `next` of the preceding page.'),
    },
    responses: {
      200: {
        description: 'A page; `next` is null at the end.',
        schema: named(
          'JobPage',
          Joi.object({
            jobs: Joi.array().items(JOB).required(),
            next: Joi.string().allow(null).required(),
          }),
        ),
      },
      ...toolErrors(400, 401, 403, 429),
    },
    answer: list,
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/jobs/{jobId}`,
    operationId: 'getJob',
    summary: 'Get a job with what its render has told',
    description: 'The job of the contract, its diagnosis, plays, output, usage and progress.',
    tag: 'Jobs',
    scopes: ['read', 'render'],
    params: ID,
    responses: { 200: { description: 'The job.', schema: WHOLE_JOB }, ...toolErrors(401, 403, 404, 429) },
    answer: whole,
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/jobs/{jobId}/wait`,
    operationId: 'waitForJob',
    summary: 'Wait for the end of a job',
    description: 'Answers when the job has ended (200), or as it is (202) when the seconds are over.',
    tag: 'Jobs',
    scopes: ['read', 'render'],
    params: ID,
    query: { seconds: WAIT_SECONDS.description('Default: 30.') },
    responses: {
      200: { description: 'The job has ended.', schema: JOB },
      202: { description: 'The job has not ended.', schema: WAITING_JOB },
      ...toolErrors(400, 401, 403, 404, 429, 503),
    },
    answer: async (call) => {
      const { jobId = '' } = call.params;
      const job = await waited(call, jobId, (call.query['seconds'] as number | undefined) ?? 30);
      const progress = call.service.progress(jobId) ?? null;
      return jsonText(
        isEnded(job) ? 200 : 202,
        toolJobJson(job, call.links, isEnded(job) ? {} : { progress }),
      );
    },
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/jobs/{jobId}/cancel`,
    operationId: 'cancelJob',
    summary: 'Cancel a job',
    description:
      'Answers when the job has ended: as `failed` with the failure `canceled`, unless it had ended before.',
    tag: 'Jobs',
    scopes: ['render'],
    params: ID,
    responses: { 200: { description: 'The job.', schema: JOB }, ...toolErrors(401, 403, 404, 429, 503) },
    answer: async ({ service, caller: { owner }, params: { jobId = '' }, links, signal }) =>
      jsonText(200, toolJobJson(await service.cancel(jobId, { owner, signal }), links)),
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/jobs/{jobId}/labels`,
    operationId: 'relabelJob',
    summary: 'Change title, tags, star or project of a job',
    description: 'Also of a job that has ended. What the request leaves out stays.',
    tag: 'Jobs',
    scopes: ['render'],
    params: ID,
    body: { name: 'LabelsRequest', schema: Joi.object(CHANGED_LABELS).min(1), mostBytes: LABELS_BYTES },
    responses: {
      200: { description: 'The job.', schema: JOB },
      409: { ...toolErrors(409)[409], description: 'The job is forgotten.' },
      ...toolErrors(400, 401, 403, 404, 413, 429, 503),
    },
    answer: async ({ service, caller: { owner }, params: { jobId = '' }, body, links }) =>
      jsonText(200, toolJobJson(await service.relabel(jobId, body as JobLabels, { owner }), links)),
  },
  {
    method: 'DELETE',
    path: `${TOOLS_PATH}/jobs/{jobId}`,
    operationId: 'forgetJob',
    summary: 'Forget a job',
    description:
      'Erases code, metadata, error and artifacts of a job that has ended. Its cost and times are kept.',
    tag: 'Jobs',
    scopes: ['render'],
    params: ID,
    responses: {
      204: { description: 'The content is erased.' },
      409: { ...toolErrors(409)[409], description: 'The job has not ended.' },
      ...toolErrors(401, 403, 404, 429, 503),
    },
    answer: async ({ service, caller: { owner }, params: { jobId = '' } }) => {
      await service.forget(jobId, { owner });
      return new Response(null, { status: 204 });
    },
  },
];

async function list({ service, caller: { owner }, query, links }: ToolCall): Promise<Response> {
  const {
    status,
    quality,
    since,
    until,
    limit = LIMIT,
    cursor,
    ...labels
  } = query as Pick<JobListQuery, 'status' | 'quality' | 'limit'> &
    Labels & {
      since?: Date;
      until?: Date;
      cursor?: string;
    };
  const asked = {
    owner,
    limit,
    ...(status && { status }),
    ...(quality && { quality }),
    ...(since && { sinceMs: since.getTime() }),
    ...(until && { untilMs: until.getTime() }),
  };
  if (Object.keys(labels).length > 0) {
    const found = await service.search({ ...asked, ...labels, ...(cursor !== undefined && { cursor }) });
    return page(found.jobs, found.next, links);
  }
  const jobs = await service.list({ ...asked, ...(cursor !== undefined && { before: cursor }) });
  return page(jobs, jobs.length < limit ? null : (jobs.at(-1)?.jobId ?? null), links);
}

function page(jobs: Job[], next: string | null, links: ArtifactLinks): Response {
  const texts = jobs.map((job) => toolJobJson(job, links));
  return jsonText(200, `{"jobs":[${texts.join()}],"next":${JSON.stringify(next)}}`);
}

async function whole({ service, caller: { owner }, params, links }: ToolCall): Promise<Response> {
  const { jobId = '' } = params;
  const job = await service.get(jobId, { owner });
  const [plays, output, used] = await Promise.all([
    service.plays(jobId, { owner }),
    service.output(jobId, { owner }),
    service.filesOf(jobId, { owner }),
  ]);
  const files = Object.fromEntries(used.files.map(({ name, fileId }) => [name, fileId]));
  const progress = isEnded(job) ? null : (service.progress(jobId) ?? null);
  return jsonText(
    200,
    toolJobJson(job, links, { plays, files, filesNote: used.note, output, usage: job.usage, progress }),
  );
}
