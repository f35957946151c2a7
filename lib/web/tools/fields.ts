import Joi from 'joi';
import { LABELS } from '../../jobs/accept/labels.ts';
import { FAILED_BY } from '../../model/failures.ts';
import { PARAMS } from '../../model/param-rules.ts';
import { ASPECT_RATIOS, QUALITY_NAMES } from '../../model/qualities.ts';
import { isWebhookUrl, RENDER_REQUEST_SCHEMA } from '../../model/render-request.ts';
import { FRAME } from '../../model/selection-rules.ts';
import { named } from '../openapi/endpoint.ts';
import { jobBody, RESULT_OF_ALL } from '../openapi/render-endpoints.ts';

const { properties } = RENDER_REQUEST_SCHEMA as { properties: Record<string, { description: string }> };
const described = (name: string, schema: Joi.Schema) =>
  schema.description(properties[name]?.description ?? '');

/** The source of scenes. */
export const CODE: Joi.Schema = described('code', Joi.string().min(1).max(204_800));
const WEBHOOK_URL = Joi.string()
  .allow(null)
  .custom((value: unknown, { message }) =>
    value === null || isWebhookUrl(value) ? value : message({ custom: 'webhookUrl must be an https:// URL' }),
  );

export const CLASS_NAME: Joi.Schema = described('className', Joi.string());

/** What a check, an inspection or a still is of. */
export const SCENE: Record<string, Joi.Schema> = {
  code: CODE.required(),
  className: CLASS_NAME,
  quality: described('quality', Joi.valid(...QUALITY_NAMES)),
  aspectRatio: described('aspectRatio', Joi.valid(...ASPECT_RATIOS)),
  fps: described('fps', Joi.number().integer().min(1)),
  files: Joi.object()
    .pattern(Joi.string(), Joi.string())
    .description(
      'Ids of files of the account, by the names under which scenes find them. Default: all files of the account, if they ' +
        'are at most 500 and 200 MiB.',
    ),
  params: PARAMS,
};

/** The fields of a render, with those that the contract does not have. */
export const RENDER: Record<string, Joi.Schema> = {
  ...SCENE,
  className: CLASS_NAME.required(),
  metadata: described('metadata', Joi.any()),
  webhookUrl: described('webhookUrl', WEBHOOK_URL),
  ...LABELS,
};

const number = Joi.number();
const count = number.integer().min(0).required();
const text = Joi.string().allow('');
const nullableText = text.allow(null).required();
const nullableCount = count.allow(null);

/** A play of a scene. */
const play = named(
  'Play',
  Joi.object({
    line: count.description('The line of the code that plays it; 0: not known.'),
    shows: text.required().description('The animations, such as `Create(Circle)`.'),
    startSeconds: number.required(),
    seconds: number.required(),
  }),
);

/** What is wrong with a scene, where, and what to write instead. */
export const FINDING: Joi.ObjectSchema = named(
  'Finding',
  Joi.object({
    kind: text.required().description('Such as `scene:name` or `layout:overlap`; see the manual.'),
    severity: Joi.valid('error', 'warning').required(),
    message: text.required(),
    line: nullableCount,
    column: nullableCount,
    endLine: nullableCount,
    endColumn: nullableCount,
    sourceLine: nullableText,
    hint: nullableText.description('What to write instead.'),
    candidates: Joi.array().items(text).required().description('The likeliest replacement first.'),
  }).unknown(),
);
export const FINDINGS: Joi.ArraySchema = Joi.array().items(FINDING).required();

/** A parameter that a scene declares. */
const param = named(
  'DeclaredParam',
  Joi.object({
    name: text.required(),
    type: text.required().description('In the words of JSON Schema, or `any`.'),
    default: Joi.any().required().description('Its value where none is given; null: not known.'),
    label: nullableText,
    minimum: number.allow(null).required().description('Of a number, or of the length of another value.'),
    maximum: number.allow(null).required(),
    choices: Joi.array().items(Joi.any()).allow(null).required(),
  }),
);

/** What a check has found. */
export const CHECKED: Joi.ObjectSchema = named(
  'CheckedSource',
  Joi.object({
    ok: Joi.boolean().required().description('Whether no finding is an error.'),
    findings: FINDINGS,
    params: Joi.array().items(param).required().description('What the scenes declare.'),
    scenes: Joi.array()
      .items(
        Joi.object({
          className: text.required(),
          frames: count,
          seconds: number.required(),
          readsPixels: Joi.boolean().required(),
          plays: Joi.array().items(play).required(),
        }),
      )
      .required(),
  }),
);

/** What was found in several sources. */
export const CHECKED_MANY: Joi.ObjectSchema = named(
  'CheckedSources',
  Joi.object({ results: Joi.array().items(CHECKED).required() }),
);
const inspectedPlay = named('InspectedPlay', play.keys({ moves: Joi.array().items(text).required() }));
const picture = Joi.object({
  number: count,
  play: nullableCount,
  line: nullableCount,
  seconds: number.required(),
  url: Joi.string().uri().required().description('A JPEG, for an hour.'),
});
const taken = { creditsCost: count, expiresAt: Joi.string().isoDate().required() };

/** What an inspection has found. */
export const INSPECTED: Joi.ObjectSchema = named(
  'InspectedSource',
  Joi.object({
    ok: Joi.boolean().required(),
    findings: FINDINGS,
    scenes: Joi.array()
      .items(
        Joi.object({
          className: text.required(),
          frames: count,
          seconds: number.required(),
          readsPixels: Joi.boolean().required(),
          sheet: Joi.string().uri().required().description('A contact sheet as JPEG, for an hour.'),
          pictures: Joi.array().items(picture).required(),
          plays: Joi.array().items(inspectedPlay).required(),
          output: text.required(),
          ...taken,
        }),
      )
      .required(),
  }),
);

/** A frame of a scene, or why there is none. */
export const STILL: Joi.ObjectSchema = named(
  'StillResult',
  Joi.object({
    ok: Joi.boolean().required(),
    findings: FINDINGS,
    still: Joi.object({
      className: text.required(),
      url: Joi.string().uri().required().description('A PNG, for an hour.'),
      ...taken,
    })
      .allow(null)
      .required(),
  }),
);

const placedAudio = Joi.object({
  file: text.required(),
  atSeconds: number,
  atCue: text,
  text,
  words: Joi.array().items(Joi.object({ text: text.required(), startSeconds: number.required() })),
});

const failure = named(
  'Failure',
  Joi.object({ kind: Joi.valid('canceled', ...FAILED_BY.filter((by) => by !== 'cancel')).required() }),
);

/** A job of a list. */
export const JOB: Joi.ObjectSchema = named(
  'ToolJob',
  jobBody.keys({
    result: RESULT_OF_ALL,
    className: text.required(),
    quality: Joi.valid(...QUALITY_NAMES).required(),
    aspectRatio: Joi.valid(...ASPECT_RATIOS).required(),
    fps: count,
    title: nullableText,
    tags: Joi.array().items(text).required(),
    starred: Joi.boolean().required().description('Whether it is marked.'),
    project: nullableText.description('The project that it is part of; null: none.'),
    seed: nullableCount,
    params: Joi.object().unknown().allow(null).required().description('Values of parameters of the scene.'),
    audio: Joi.array()
      .items(placedAudio)
      .allow(null)
      .required()
      .description('Sounds that the request placed in the video.'),
    formats: Joi.array().items(text).required().description('What it makes.'),
    fromPlay: nullableCount.description(
      'The first play of its video, counted from 0; null: that of the scene.',
    ),
    toPlay: nullableCount.description('The last play of its video; null: that of the scene.'),
    poster: FRAME.allow(null)
      .required()
      .description('The frame that the thumbnail shows; null: one with much contrast.'),
    stills: Joi.array().items(FRAME).required().description('The frames that become a PNG each.'),
    attempts: count,
    startedAt: Joi.string().isoDate().allow(null).required(),
    failure: failure.allow(null).required(),
    diagnosis: FINDING.allow(null).required(),
  }),
);

const progressOfJob = named(
  'Progress',
  Joi.object({ stage: text.required(), frames: count, seconds: number.required() }),
);
const progress = progressOfJob.allow(null).required();

/** A job that is waited for. */
export const WAITING_JOB: Joi.ObjectSchema = named('WaitingJob', JOB.keys({ progress }));

/** A job with what its render has told. */
export const WHOLE_JOB: Joi.ObjectSchema = named(
  'WholeJob',
  JOB.keys({
    plays: Joi.array().items(play).required(),
    files: Joi.object().pattern(text, text).required().description('Ids of the files that it uses, by name.'),
    filesNote: nullableText.description(
      'Why it uses none, if the account had more files than a job comes with.',
    ),
    output: text.required().description('What the scene printed, and warnings.'),
    usage: Joi.object().unknown().allow(null).required().description('Time and memory of the render.'),
    progress,
  }),
);

/** What other schemas contain. */
export const PARTS: readonly Joi.Schema[] = [
  ...[play, inspectedPlay, FINDING, param, CHECKED, CHECKED_MANY],
  ...[failure, progressOfJob],
];
