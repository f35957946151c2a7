import { Readable } from 'node:stream';
import Joi from 'joi';
import { ScenepressError } from '../../base/errors.ts';
import { KEPT_MS } from '../../jobs/snapshots/snapshots.ts';
import { AUDIO } from '../../model/audio-rules.ts';
import type { CheckRequest } from '../../model/checked-source.ts';
import { FRAME } from '../../model/selection-rules.ts';
import type { StillAt } from '../../model/still-place.ts';
import { isoTime } from '../../time/clock.ts';
import { named } from '../openapi/endpoint.ts';
import { CHECKED, CHECKED_MANY, CODE, INSPECTED, SCENE, STILL } from './fields.ts';
import { json, TOOLS_PATH, type ToolCall, type ToolRoute } from './route.ts';
import { toolErrors } from './tool-errors.ts';

const MOST_CODES = 50;
/** As a source in JSON, in which each character may be an escape. */
const SCENE_BYTES = 1024 * 1024;
const MANY_BYTES = 8 * 1024 * 1024;

type SceneBody = { code: string } & Omit<CheckRequest, 'owner' | 'signal'>;

const AT = FRAME.description(
  'The last frame, the one at a time in seconds, or the last one of a play, counted from 0.',
);

/** Checks, inspections and stills. */
export const SCENE_ROUTES: readonly ToolRoute[] = [
  {
    method: 'POST',
    path: `${TOOLS_PATH}/check`,
    operationId: 'checkScenes',
    summary: 'Check scenes',
    description:
      'Runs the scenes of a source, or of up to 50 sources, without drawing them, and tells what is wrong, where, and what ' +
      'to write instead. Costs no credits. `dryRun: false` only reads the code: at once, but finds less.',
    tag: 'Scenes',
    scopes: ['check'],
    body: {
      name: 'CheckRequest',
      mostBytes: MANY_BYTES,
      takesFiles: true,
      schema: Joi.object({
        ...SCENE,
        code: CODE.description('One source.'),
        codes: Joi.array().items(CODE).min(1).max(MOST_CODES).description('Several sources instead.'),
        dryRun: Joi.boolean().description('Whether the scenes are run. Default: true.'),
        audio: AUDIO.description('Sounds that the render would place; needs className.'),
      }),
    },
    responses: {
      200: {
        description:
          'What was found; of several sources `results` in their order. One that could not be read in time has a finding ' +
          '`limit:time`; the answer is 503 if none could be.',
        schema: named('CheckResponse', Joi.alternatives(CHECKED, CHECKED_MANY)),
      },
      ...toolErrors(400, 401, 403, 404, 413, 429, 503),
    },
    answer: async ({ service, caller: { owner }, body, signal }) => {
      const { code, codes, ...options } = body as Partial<SceneBody> & { codes?: string[] };
      if ((code === undefined) === (codes === undefined))
        throw new ScenepressError('invalid_request', 'Either code or codes must be given.');
      if (codes) return json(200, { results: await service.checkMany(codes, { ...options, owner, signal }) });
      return json(200, await service.check(code ?? '', { ...options, owner, signal }));
    },
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/inspect`,
    operationId: 'inspectScenes',
    summary: 'Inspect scenes',
    description:
      'Draws pictures of scenes, without a video, and tells what is wrong with the code and what cannot be read or seen. ' +
      'Each scene is charged as a render of low quality. With `Accept: image/jpeg` the answer is the contact sheet of the ' +
      'first scene.',
    tag: 'Scenes',
    scopes: ['check'],
    body: {
      name: 'InspectRequest',
      mostBytes: SCENE_BYTES,
      takesFiles: true,
      schema: Joi.object(SCENE),
    },
    responses: {
      200: { description: 'What was found.', schema: INSPECTED, media: ['image/jpeg'] },
      ...toolErrors(400, 401, 402, 403, 404, 413, 429, 503),
    },
    answer: inspect,
  },
  {
    method: 'POST',
    path: `${TOOLS_PATH}/still`,
    operationId: 'drawStill',
    summary: 'Draw one frame',
    description:
      'Draws one frame as a render shows it, as PNG, without those before. Charged as a render of low quality. With ' +
      '`Accept: image/png` the answer is the picture.',
    tag: 'Scenes',
    scopes: ['check'],
    body: {
      name: 'StillRequest',
      mostBytes: SCENE_BYTES,
      takesFiles: true,
      schema: Joi.object({ ...SCENE, at: AT }),
    },
    responses: {
      200: { description: 'The frame, or why there is none.', schema: STILL, media: ['image/png'] },
      ...toolErrors(400, 401, 402, 403, 404, 413, 429, 503),
    },
    answer: still,
  },
  {
    method: 'GET',
    path: `${TOOLS_PATH}/pictures/{snapshotId}/{name}`,
    operationId: 'getPicture',
    summary: 'Get a picture of an inspection or a still',
    description: 'For an hour, for anyone who has its URL, which cannot be guessed.',
    tag: 'Scenes',
    scopes: undefined,
    params: { snapshotId: 'Of the URL.', name: 'Of the URL.' },
    responses: {
      200: { description: 'The picture.', media: ['image/jpeg', 'image/png'] },
      ...toolErrors(404),
    },
    answer: async ({ service, params }) => {
      const { snapshotId = '', name = '' } = params;
      const { stream, sizeBytes, contentType } = await service.openPicture(snapshotId, name);
      return new Response(Readable.toWeb(stream as Readable) as ReadableStream<Uint8Array>, {
        headers: {
          'content-type': contentType,
          'content-length': String(sizeBytes),
          'cache-control': 'private, max-age=3600, immutable',
          'x-content-type-options': 'nosniff',
        },
      });
    },
  },
];

async function inspect(call: ToolCall): Promise<Response> {
  const { service, caller, body, signal } = call;
  const { code, dryRun: _, ...options } = body as unknown as SceneBody;
  const { ok, findings, scenes } = await service.inspect(code, { ...options, owner: caller.owner, signal });
  const [first] = scenes;
  if (first && accepts(call, 'image/jpeg')) return image(first.sheet, 'image/jpeg');
  return json(200, {
    ok,
    findings,
    scenes: scenes.map(
      ({ className, frames, seconds, readsPixels, pictures, plays, output, snapshotId, creditsCost }) => ({
        ...{ className, frames, seconds, readsPixels, sheet: urlOf(call, snapshotId, 'sheet.jpg') },
        pictures: pictures.map(({ jpeg: _, ...picture }) => ({
          ...picture,
          url: urlOf(call, snapshotId, `picture-${picture.number}.jpg`),
        })),
        ...{ plays, output, creditsCost, expiresAt: expiresAt(call) },
      }),
    ),
  });
}

async function still(call: ToolCall): Promise<Response> {
  const { service, caller, body, signal } = call;
  const { code, dryRun: _, at, ...options } = body as unknown as SceneBody & { at?: StillAt };
  const place = at === undefined ? {} : { at };
  const drawn = await service.still(code, { ...options, ...place, owner: caller.owner, signal });
  if (drawn.still && accepts(call, 'image/png')) return image(drawn.still.png, 'image/png');
  const { ok, findings } = drawn;
  if (!drawn.still) return json(200, { ok, findings, still: null });
  const { className, snapshotId, creditsCost } = drawn.still;
  const url = urlOf(call, snapshotId, 'still.png');
  return json(200, { ok, findings, still: { className, url, creditsCost, expiresAt: expiresAt(call) } });
}

function urlOf({ urlOf }: ToolCall, snapshotId: string | null, name: string): string {
  if (snapshotId === null) throw new ScenepressError('not_found', 'The pictures were not kept.');
  return urlOf(`/pictures/${snapshotId}/${name}`);
}

function expiresAt({ clock }: ToolCall): string {
  return isoTime(clock.now() + KEPT_MS);
}

/** Whether the client wants a picture instead of JSON. */
function accepts({ headers }: ToolCall, type: string): boolean {
  const [first = ''] = (headers.get('accept') ?? '').split(/[,;]/);
  return first.trim().toLowerCase() === type;
}

function image(bytes: Uint8Array, type: string): Response {
  const headers = {
    'content-type': type,
    'cache-control': 'no-store',
    'content-length': String(bytes.length),
  };
  return new Response(new Uint8Array(bytes), { headers });
}
