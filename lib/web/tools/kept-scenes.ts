import { Readable } from 'node:stream';
import Joi from 'joi';
import { isScenepressError, ScenepressError } from '../../base/errors.ts';
import type { SaveScene } from '../../scenes/scene-requests.ts';
import type { Scene, SceneSummary } from '../../scenes/scene-views.ts';
import type { Answer } from '../openapi/endpoint.ts';
import { json, TOOLS_PATH, type ToolCall, type ToolRoute } from './route.ts';
import {
  CLASS_NAME,
  CONFLICT,
  DRAFT,
  DRAFT_CODE,
  DRAFTS,
  IF_MATCH,
  NAME,
  REVISION,
  SCENE,
  SCENE_PAGE,
  SETTINGS,
} from './scene-fields.ts';
import { toolErrors } from './tool-errors.ts';

const LIMIT = 50;
const MOST = 500;
const SCENE_BYTES = 1024 * 1024;
const SMALL_BYTES = 16 * 1024;
export const ID = { sceneId: 'The id of the scene.' };
const READ = ['read', 'render'] as const;
const WRITE = ['render'] as const;
const THE_SCENE: Record<number, Answer> = { 200: { description: 'The scene.', schema: SCENE } };
const number = Joi.number().integer().min(1);

/** Scenes that the account keeps. */
export const KEPT_SCENE_ROUTES: readonly ToolRoute[] = [
  {
    method: 'GET',
    path: `${TOOLS_PATH}/scenes`,
    operationId: 'listScenes',
    summary: 'List scenes',
    description: 'Those that were changed last first. For the next page repeat the query with `cursor`.',
    tag: 'Kept scenes',
    scopes: READ,
    query: {
      text: Joi.string()
        .allow('')
        .max(1000)
        .description('Only those with words that begin so, in name, class name and code.'),
      limit: number.max(MOST).description(`Default: ${LIMIT}.`),
      cursor: Joi.string().description('The `next` of the preceding page.'),
    },
    responses: {
      200: {
        description: 'A page; `next` is null at the end. `usage` is of all scenes of the account.',
        schema: SCENE_PAGE,
      },
      ...toolErrors(400, 401, 403, 429),
    },
    answer: list,
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/scenes`,
    operationId: 'createScene',
    summary: 'Keep a scene',
    description: 'A document with code, of which drafts are saved and versions rendered.',
    tag: 'Kept scenes',
    scopes: WRITE,
    body: {
      name: 'NewScene',
      mostBytes: SCENE_BYTES,
      schema: Joi.object({
        name: NAME.required(),
        className: CLASS_NAME,
        code: DRAFT_CODE,
        settings: SETTINGS,
        jobId: Joi.string().description(
          'A job, which becomes the first version. What is not given is as in the job.',
        ),
      }),
    },
    responses: {
      201: { description: 'The scene.', schema: SCENE },
      ...toolErrors(400, 401, 403, 404, 409, 413, 429, 503),
    },
    answer: async ({ service, caller: { owner }, body }) =>
      sceneAnswer(201, await service.scenes.create({ ...(body as { name: string }), owner })),
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/scenes.zip`,
    operationId: 'downloadScenes',
    summary: 'Download all scenes',
    description: 'A `.py` file for each, and `scenes.json` with ids, names and settings.',
    tag: 'Kept scenes',
    scopes: READ,
    responses: {
      200: { description: 'The archive.', media: ['application/zip'] },
      ...toolErrors(401, 403, 429),
    },
    answer: async ({ service, caller: { owner } }) =>
      download(Readable.from(service.scenes.archive(owner)), 'scenes.zip', 'application/zip'),
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/scenes/{sceneId}`,
    operationId: 'getScene',
    summary: 'Read a scene',
    description: 'With its current draft. Its revision is also the `ETag`.',
    tag: 'Kept scenes',
    scopes: READ,
    params: ID,
    responses: { ...THE_SCENE, ...toolErrors(401, 403, 404, 429) },
    answer: async ({ service, caller: { owner }, params: { sceneId = '' } }) =>
      sceneAnswer(200, await service.scenes.get(sceneId, { owner })),
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/scenes/{sceneId}/code`,
    operationId: 'downloadScene',
    summary: 'Download the code of a scene',
    description: 'The current draft as a `.py` file.',
    tag: 'Kept scenes',
    scopes: READ,
    params: ID,
    responses: {
      200: { description: 'The code.', media: ['text/x-python'] },
      ...toolErrors(401, 403, 404, 429),
    },
    answer: async ({ service, caller: { owner }, params: { sceneId = '' } }) => {
      const { code, name } = await service.scenes.get(sceneId, { owner });
      return download(Readable.from([Buffer.from(code)]), `${name}.py`, 'text/x-python; charset=utf-8');
    },
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/scenes/{sceneId}/save`,
    operationId: 'saveScene',
    summary: 'Save a draft',
    description:
      'Unless the scene was saved elsewhere since the revision. What is not given stays as it is. May be repeated: what the scene ' +
      'has already needs no save.',
    tag: 'Kept scenes',
    scopes: WRITE,
    params: ID,
    headers: IF_MATCH,
    body: {
      name: 'SaveRequest',
      mostBytes: SCENE_BYTES,
      schema: Joi.object({
        revision: REVISION,
        className: CLASS_NAME,
        code: DRAFT_CODE,
        settings: SETTINGS,
      }),
    },
    responses: { ...THE_SCENE, ...toolErrors(400, 401, 403, 404, 413, 429, 503), ...CONFLICT },
    answer: (call) =>
      withConflict(call, async (sceneId, owner) => {
        const save: SaveScene = { ...call.body, owner, revision: revisionOf(call) };
        return sceneAnswer(200, await call.service.scenes.save(sceneId, save));
      }),
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/scenes/{sceneId}/restore`,
    operationId: 'restoreScene',
    summary: 'Restore a draft or a version',
    description:
      'It becomes the current draft; what was current stays among the drafts. Files stay those of the draft.',
    tag: 'Kept scenes',
    scopes: WRITE,
    params: ID,
    headers: IF_MATCH,
    body: {
      name: 'RestoreRequest',
      mostBytes: SMALL_BYTES,
      schema: Joi.object({
        revision: REVISION,
        draft: number.description('The revision of an earlier draft.'),
        version: number.description('The number of a version.'),
      }).xor('draft', 'version'),
    },
    responses: { ...THE_SCENE, ...toolErrors(400, 401, 403, 404, 413, 429, 503), ...CONFLICT },
    answer: (call) =>
      withConflict(call, async (sceneId, owner) => {
        const restore = { ...call.body, owner, revision: revisionOf(call) };
        return sceneAnswer(200, await call.service.scenes.restore(sceneId, restore));
      }),
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/scenes/{sceneId}/rename`,
    operationId: 'renameScene',
    summary: 'Rename a scene',
    description: 'Its revision stays.',
    tag: 'Kept scenes',
    scopes: WRITE,
    params: ID,
    body: {
      name: 'RenameSceneRequest',
      mostBytes: SMALL_BYTES,
      schema: Joi.object({ name: NAME.required() }),
    },
    responses: { ...THE_SCENE, ...toolErrors(400, 401, 403, 404, 413, 429, 503) },
    answer: async ({ service, caller: { owner }, params: { sceneId = '' }, body }) =>
      sceneAnswer(200, await service.scenes.rename(sceneId, { owner, name: String(body['name']) })),
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/scenes/{sceneId}/duplicate`,
    operationId: 'duplicateScene',
    summary: 'Copy a scene',
    description: 'The current draft, without versions.',
    tag: 'Kept scenes',
    scopes: WRITE,
    params: ID,
    body: {
      name: 'DuplicateRequest',
      mostBytes: SMALL_BYTES,
      isOptional: true,
      schema: Joi.object({ name: NAME }),
    },
    responses: {
      201: { description: 'The new scene.', schema: SCENE },
      ...toolErrors(400, 401, 403, 404, 413, 429, 503),
    },
    answer: async ({ service, caller: { owner }, params: { sceneId = '' }, body }) =>
      sceneAnswer(201, await service.scenes.duplicate(sceneId, { ...body, owner })),
  },
  {
    method: 'DELETE',
    path: `${TOOLS_PATH}/scenes/{sceneId}`,
    operationId: 'removeScene',
    summary: 'Remove a scene',
    description:
      'Its drafts and versions become unreadable. The jobs of its versions stay, unless `forgetJobs`; what they cost stays in any ' +
      'case.',
    tag: 'Kept scenes',
    scopes: WRITE,
    params: ID,
    query: {
      forgetJobs: Joi.boolean().description('Forgets the jobs of its versions, too. Default: false.'),
    },
    responses: {
      204: { description: 'The scene is removed.' },
      409: { ...toolErrors(409)[409], description: 'A job to forget has not ended.' },
      ...toolErrors(400, 401, 403, 404, 429, 503),
    },
    answer: async ({ service, caller: { owner }, params: { sceneId = '' }, query }) => {
      await service.scenes.remove(sceneId, { owner, forgetJobs: query['forgetJobs'] === true });
      return new Response(null, { status: 204 });
    },
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/scenes/{sceneId}/drafts`,
    operationId: 'listDrafts',
    summary: 'List the drafts of a scene',
    description:
      'The current one and earlier ones, the newest first. Of autosaves within seconds, one a minute is kept.',
    tag: 'Kept scenes',
    scopes: READ,
    params: ID,
    responses: {
      200: { description: 'The drafts, without their texts.', schema: DRAFTS },
      ...toolErrors(401, 403, 404, 429),
    },
    answer: async ({ service, caller: { owner }, params: { sceneId = '' } }) =>
      json(200, { drafts: await service.scenes.drafts(sceneId, { owner }) }),
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/scenes/{sceneId}/drafts/{revision}`,
    operationId: 'getDraft',
    summary: 'Read a draft of a scene',
    description: 'With its code and settings.',
    tag: 'Kept scenes',
    scopes: READ,
    params: { ...ID, revision: 'The revision of the draft.' },
    responses: { 200: { description: 'The draft.', schema: DRAFT }, ...toolErrors(401, 403, 404, 429) },
    answer: async ({ service, caller: { owner }, params: { sceneId = '', revision } }) =>
      json(200, await service.scenes.draft(sceneId, Number(revision), { owner })),
  },
];

async function list({ service, caller: { owner }, query }: ToolCall): Promise<Response> {
  const { limit = LIMIT, text, cursor } = query as { limit?: number; text?: string; cursor?: string };
  const page = {
    ...{ owner, limit },
    ...(text !== undefined && { text }),
    ...(cursor !== undefined && { after: cursor }),
  };
  const [{ scenes, next }, { mostScenes, mostBytes, ...used }] = await Promise.all([
    service.scenes.list(page),
    service.scenes.usage(owner),
  ]);
  const usage = { ...used, mostScenes: finite(mostScenes), mostBytes: finite(mostBytes) };
  return json(200, { scenes: scenes.map(sceneJson), next, usage });
}

/** Answers a conflict with the scene as it is now, so that a client need not ask for it. */
export async function withConflict(
  { service, caller: { owner }, params: { sceneId = '' } }: ToolCall,
  work: (sceneId: string, owner: string) => Promise<Response>,
): Promise<Response> {
  try {
    return await work(sceneId, owner);
  } catch (error) {
    if (!isScenepressError(error, 'conflict')) throw error;
    const scene = sceneJson(await service.scenes.get(sceneId, { owner }));
    return json(409, { error: 'Conflict', message: error.message, scene });
  }
}

/** The revision in the body or in `If-Match`. Error: `invalid_request` without either. */
function revisionOf({ body, headers }: ToolCall): number {
  const [, tag] = /^\s*(?:W\/)?"(\d{1,15})"\s*$/.exec(headers.get('if-match') ?? '') ?? [];
  const revision = body['revision'] ?? (tag === undefined ? undefined : Number(tag));
  if (typeof revision === 'number') return revision;
  const message = 'Give the revision of the draft that was changed: as `revision`, or in If-Match as "3".';
  throw new ScenepressError('invalid_request', message);
}

function sceneAnswer(status: number, scene: Scene): Response {
  return json(status, sceneJson(scene), { etag: `"${scene.revision}"` });
}

/** Without its owner, who is the caller. */
function sceneJson<Of extends SceneSummary>({ owner: _, ...scene }: Of): Omit<Of, 'owner'> {
  return scene;
}

function download(stream: Readable, name: string, contentType: string): Response {
  return new Response(Readable.toWeb(stream) as ReadableStream<Uint8Array>, {
    headers: {
      'content-type': contentType,
      'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    },
  });
}

function finite(limit: number): number | null {
  return Number.isFinite(limit) ? limit : null;
}
