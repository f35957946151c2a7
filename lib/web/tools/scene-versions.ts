import { hash } from 'node:crypto';
import Joi from 'joi';
import type { ArtifactLinks } from '../../model/job-json.ts';
import type { RenderScene } from '../../scenes/scene-requests.ts';
import type { SceneVersion, WholeVersion } from '../../scenes/scene-views.ts';
import { traceContextIn } from '../../tracing/trace-context.ts';
import { rawMember } from '../json-members.ts';
import { IDEMPOTENCY_HEADER } from '../openapi/render-endpoints.ts';
import { idempotencyKeyOf } from '../request-body.ts';
import { RENDER } from './fields.ts';
import { ID, withConflict } from './kept-scenes.ts';
import { jsonText, TOOLS_PATH, type ToolCall, type ToolRoute } from './route.ts';
import { CONFLICT, SETTINGS, VERSION, VERSION_PAGE, WHOLE_VERSION } from './scene-fields.ts';
import { toolErrors } from './tool-errors.ts';
import { toolJobJson } from './tool-job.ts';

const LIMIT = 50;
const MOST = 100;
const RENDER_BYTES = 1024 * 1024;
const { metadata, webhookUrl } = RENDER as Record<'metadata' | 'webhookUrl', Joi.Schema>;
const number = Joi.number().integer().min(1);

/** Renders of scenes that the account keeps. */
export const SCENE_VERSION_ROUTES: readonly ToolRoute[] = [
  {
    method: 'POST',
    path: `${TOOLS_PATH}/scenes/{sceneId}/render`,
    operationId: 'renderScene',
    summary: 'Render a scene',
    description: 'Enqueues the current draft, as the next version of the scene.',
    tag: 'Kept scenes',
    scopes: ['render'],
    params: ID,
    headers: IDEMPOTENCY_HEADER,
    body: {
      name: 'RenderSceneRequest',
      mostBytes: RENDER_BYTES,
      isOptional: true,
      schema: Joi.object({
        revision: number.description('Renders only if this is still the revision of the current draft.'),
        changes: SETTINGS.description('Settings of this render that differ from those of the draft.'),
        metadata,
        webhookUrl,
      }),
    },
    responses: {
      202: { description: 'The version, whose job is queued.', schema: VERSION },
      ...toolErrors(400, 401, 402, 403, 404, 413, 429, 503),
      ...CONFLICT,
    },
    answer: render,
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/scenes/{sceneId}/versions`,
    operationId: 'listVersions',
    summary: 'List the versions of a scene',
    description: 'The newest first. For the next page repeat the query with `cursor`.',
    tag: 'Kept scenes',
    scopes: ['read', 'render'],
    params: ID,
    query: {
      limit: number.max(MOST).description(`Default: ${LIMIT}.`),
      cursor: number.description('The `next` of the preceding page.'),
    },
    responses: {
      200: { description: 'A page; `next` is null at the end.', schema: VERSION_PAGE },
      ...toolErrors(400, 401, 403, 404, 429),
    },
    answer: list,
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/scenes/{sceneId}/versions/{version}`,
    operationId: 'getVersion',
    summary: 'Read a version of a scene',
    description: 'With the code that was rendered.',
    tag: 'Kept scenes',
    scopes: ['read', 'render'],
    params: { ...ID, version: 'The number of the version.' },
    responses: {
      200: { description: 'The version.', schema: WHOLE_VERSION },
      ...toolErrors(401, 403, 404, 429),
    },
    answer: async ({ service, caller: { owner }, params: { sceneId = '', version }, links }) =>
      jsonText(200, versionJson(await service.scenes.version(sceneId, Number(version), { owner }), links)),
  },
];

function render(call: ToolCall): Promise<Response> {
  const { service, caller, body, text, headers, links } = call;
  const { metadata: _, ...fields } = body as Pick<RenderScene, 'revision' | 'changes' | 'metadata'>;
  const key = idempotencyKeyOf(headers.get('idempotency-key'));
  return withConflict(call, async (sceneId, owner) => {
    const version = await service.scenes.render(sceneId, {
      ...{ webhookUrl: caller.webhookUrl, ...fields, owner, keyId: caller.keyId },
      metadataJson: 'metadata' in body ? (rawMember(text, 'metadata') ?? null) : null,
      ...(key !== undefined && { idempotency: { key, fingerprint: hash('sha256', `${sceneId} ${text}`) } }),
      ...traceContextIn(headers),
    });
    return jsonText(202, versionJson(version, links));
  });
}

async function list({
  service,
  caller: { owner },
  params: { sceneId = '' },
  query,
  links,
}: ToolCall): Promise<Response> {
  const { limit = LIMIT, cursor } = query as { limit?: number; cursor?: number };
  const page = { owner, limit, ...(cursor !== undefined && { before: cursor }) };
  const versions = await service.scenes.versions(sceneId, page);
  const next = versions.length < limit ? null : (versions.at(-1)?.version ?? null);
  const texts = versions.map((version) => versionJson(version, links));
  return jsonText(200, `{"versions":[${texts.join()}],"next":${next}}`);
}

/** As text, because the metadata of the job is passed on verbatim. */
function versionJson({ job, ...version }: SceneVersion | WholeVersion, links: ArtifactLinks): string {
  return `${JSON.stringify(version).slice(0, -1)},"job":${toolJobJson(job, links)}}`;
}
