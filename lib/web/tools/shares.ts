import Joi from 'joi';
import { SHARE_VISIBILITIES, type Share } from '../../model/share.ts';
import type { ShareChanges, ShareSettings } from '../../model/share-requests.ts';
import { SHARE_CHANGES, SHARE_SETTINGS } from '../../shares/share-rules.ts';
import { type Answer, named } from '../openapi/endpoint.ts';
import { json, TOOLS_PATH, type ToolCall, type ToolRoute } from './route.ts';
import { toolErrors } from './tool-errors.ts';

const LIMIT = 100;
const MOST = 500;
const BODY_BYTES = 64 * 1024;
const text = Joi.string().required();
const nullable = Joi.string().allow(null).required();
const ID = { shareId: 'The id of the share.' };

const SHARE = named(
  'Share',
  Joi.object({
    shareId: text,
    url: text.description('The page to pass on: the appliance serves it.'),
    embedUrl: text.description('The page with the player alone, for frames of other sites.'),
    token: text.description('The secret part of both.'),
    jobIds: Joi.array().items(Joi.string()).required(),
    title: nullable,
    description: nullable,
    visibility: Joi.valid(...SHARE_VISIBILITIES).required(),
    poster: SHARE_SETTINGS.poster.required(),
    allowDownload: Joi.boolean().required(),
    state: Joi.valid('open', 'private', 'expired', 'revoked')
      .required()
      .description('`open`: the link works.'),
    views: Joi.number().integer().min(0).required(),
    createdAt: text,
    expiresAt: nullable,
    revokedAt: nullable,
  }),
);
const THE_SHARE: Record<number, Answer> = { 200: { description: 'The share.', schema: SHARE } };

/** Links under which others watch videos of the account. */
export const SHARE_ROUTES: readonly ToolRoute[] = [
  {
    method: 'GET',
    path: `${TOOLS_PATH}/shares`,
    operationId: 'listShares',
    summary: 'List shares',
    description: 'Shares of the account, newest first. For the next page repeat the query with `cursor`.',
    tag: 'Shares',
    scopes: ['read', 'render'],
    query: {
      jobId: Joi.string().description('Only those with the video of this job.'),
      limit: Joi.number().integer().min(1).max(MOST).description(`Default: ${LIMIT}.`),
      cursor: Joi.string().description('The `next` of the preceding page.'),
    },
    responses: {
      200: {
        description: 'A page; `next` is null at the end.',
        schema: named(
          'SharePage',
          Joi.object({ shares: Joi.array().items(SHARE).required(), next: nullable }),
        ),
      },
      ...toolErrors(400, 401, 403, 429),
    },
    answer: list,
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/shares`,
    operationId: 'createShare',
    summary: 'Share videos',
    description:
      'Makes a link under which others watch the videos of completed jobs, until it is revoked or expires.',
    tag: 'Shares',
    scopes: ['render'],
    body: {
      name: 'ShareRequest',
      mostBytes: BODY_BYTES,
      schema: Joi.object({ ...SHARE_SETTINGS, jobIds: SHARE_SETTINGS.jobIds.required() }),
    },
    responses: {
      201: { description: 'The share.', schema: SHARE },
      409: { ...toolErrors(409)[409], description: 'A job has no video to share.' },
      ...toolErrors(400, 401, 403, 404, 413, 429, 503),
    },
    answer: async (call) => {
      const given = call.body as unknown as ShareSettings & { jobIds: string[] };
      return json(
        201,
        shareJson(call, await call.service.shares.create({ ...given, owner: call.caller.owner })),
      );
    },
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/shares/{shareId}`,
    operationId: 'getShare',
    summary: 'Get a share',
    description: 'Its link, its settings and its views.',
    tag: 'Shares',
    scopes: ['read', 'render'],
    params: ID,
    responses: { ...THE_SHARE, ...toolErrors(401, 403, 404, 429) },
    answer: async (call) =>
      json(200, shareJson(call, await call.service.shares.get(idOf(call), { owner: call.caller.owner }))),
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/shares/{shareId}`,
    operationId: 'changeShare',
    summary: 'Change a share',
    description:
      'What is absent stays; the link stays the same. Videos are taken out first, then added, then moved.',
    tag: 'Shares',
    scopes: ['render'],
    params: ID,
    body: { name: 'ShareChanges', mostBytes: BODY_BYTES, schema: Joi.object({ ...SHARE_CHANGES }) },
    responses: {
      ...THE_SHARE,
      409: {
        ...toolErrors(409)[409],
        description:
          'The share was revoked or would have no or too many videos, or a job has no video to share.',
      },
      ...toolErrors(400, 401, 403, 404, 413, 429, 503),
    },
    answer: async (call) => {
      const changes = { ...(call.body as ShareChanges), owner: call.caller.owner };
      return json(200, shareJson(call, await call.service.shares.update(idOf(call), changes)));
    },
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/shares/{shareId}/revoke`,
    operationId: 'revokeShare',
    summary: 'Revoke a share',
    description: 'Its link stops working at once, for good; the share stays in the list.',
    tag: 'Shares',
    scopes: ['render'],
    params: ID,
    responses: { ...THE_SHARE, ...toolErrors(401, 403, 404, 429, 503) },
    answer: async (call) =>
      json(200, shareJson(call, await call.service.shares.revoke(idOf(call), { owner: call.caller.owner }))),
  },
  {
    method: 'DELETE',
    path: `${TOOLS_PATH}/shares/{shareId}`,
    operationId: 'removeShare',
    summary: 'Remove a share',
    description: 'Its link is then unknown, and its texts are erased.',
    tag: 'Shares',
    scopes: ['render'],
    params: ID,
    responses: { 204: { description: 'The share is removed.' }, ...toolErrors(401, 403, 404, 429, 503) },
    answer: async (call) => {
      await call.service.shares.remove(idOf(call), { owner: call.caller.owner });
      return new Response(null, { status: 204 });
    },
  },
];

async function list(call: ToolCall): Promise<Response> {
  const { limit = LIMIT, cursor, jobId } = call.query as { limit?: number; cursor?: string; jobId?: string };
  const shares = await call.service.shares.list({
    ...{ owner: call.caller.owner, limit },
    ...(jobId !== undefined && { jobId }),
    ...(cursor !== undefined && { before: cursor }),
  });
  return json(200, {
    shares: shares.map((share) => shareJson(call, share)),
    next: shares.length < limit ? null : (shares.at(-1)?.shareId ?? null),
  });
}

function idOf({ params }: ToolCall): string {
  return params['shareId'] ?? '';
}

/** Without its owner, who is the caller. */
function shareJson({ urlOf }: ToolCall, { owner: _, ...share }: Share): object {
  const base = urlOf('').slice(0, -TOOLS_PATH.length);
  return { ...share, url: `${base}/w/${share.token}`, embedUrl: `${base}/embed/${share.token}` };
}
