import Joi from 'joi';
import { type Answer, named } from '../openapi/endpoint.ts';
import { JOB, RENDER } from './fields.ts';
import { toolErrors } from './tool-errors.ts';

const {
  code: _,
  className: __,
  title: ___,
  metadata: ____,
  webhookUrl: _____,
  files: ______,
  ...settings
} = RENDER;
const text = Joi.string().allow('');
const id = Joi.string().required();
const count = Joi.number().integer().min(0).required();
const time = Joi.string().isoDate().required();

/** How a scene is rendered. */
export const SETTINGS: Joi.ObjectSchema = Joi.object({
  ...settings,
  files: Joi.object()
    .pattern(Joi.string(), Joi.string())
    .description(
      'Ids of files of the account, by the names under which the scene finds them. Default: all files.',
    ),
}).description('What a render request has besides code and class name.');
export const NAME: Joi.Schema = Joi.string()
  .max(200)
  .description('For people; several scenes may have the same.');
export const CLASS_NAME: Joi.Schema = text.description('The class to render; empty while none is chosen.');
export const DRAFT_CODE: Joi.Schema = text
  .max(204_800)
  .description('Python source; empty while there is none.');
export const REVISION: Joi.NumberSchema = Joi.number()
  .integer()
  .min(1)
  .description('Of the draft that was changed. Required, unless `If-Match` names it.');

/** The revision of a draft, as an alternative to the one in the body. */
export const IF_MATCH = {
  'If-Match': {
    type: 'string',
    description: 'The `ETag` of the scene that was read: its revision in quotes.',
  },
};

const summary = Joi.object({
  sceneId: id,
  name: id,
  revision: count.description('Of the current draft.'),
  lastVersion: Joi.object({ version: count, jobId: id })
    .allow(null)
    .required()
    .description('The newest render; null before the first.'),
  createdAt: time,
  changedAt: time.description('When it was last saved, renamed or rendered.'),
});
const texts = {
  className: text.required().description('Empty while none is chosen.'),
  code: text.required(),
  settings: Joi.object().unknown().required(),
};
const draft = Joi.object({ revision: count, savedAt: time, sizeBytes: count });
const SUMMARY = named('SceneSummary', summary);

export const SCENE: Joi.ObjectSchema = named('Scene', summary.keys(texts));
export const SCENE_PAGE: Joi.ObjectSchema = named(
  'ScenePage',
  Joi.object({
    scenes: Joi.array().items(SUMMARY).required(),
    next: Joi.string().allow(null).required(),
    usage: Joi.object({
      scenes: count,
      bytes: count.description('Of all drafts.'),
      mostScenes: Joi.number().integer().allow(null).required().description('Null: no limit.'),
      mostBytes: Joi.number().integer().allow(null).required().description('Null: no limit.'),
    }).required(),
  }),
);
export const DRAFTS: Joi.ObjectSchema = named(
  'SceneDrafts',
  Joi.object({ drafts: Joi.array().items(draft).required() }),
);
export const DRAFT: Joi.ObjectSchema = named('SceneDraft', draft.keys(texts));

const version = Joi.object({
  sceneId: id,
  version: count.description('Counted from 1.'),
  revision: count.allow(null).description('The draft that was rendered; null: it was rendered with changes.'),
  state: Joi.valid('queued', 'running', 'completed', 'failed', 'expired', 'forgotten')
    .required()
    .description('`expired`: its video was removed by age; `forgotten`: the content of its job was erased.'),
  job: JOB.required(),
});
export const VERSION: Joi.ObjectSchema = named('SceneVersion', version);
export const WHOLE_VERSION: Joi.ObjectSchema = named(
  'WholeSceneVersion',
  version.keys({ code: text.allow(null).required().description('Null once its job is forgotten.') }),
);
export const VERSION_PAGE: Joi.ObjectSchema = named(
  'SceneVersionPage',
  Joi.object({ versions: Joi.array().items(VERSION).required(), next: count.allow(null) }),
);

/** The response to a save of an earlier draft than the current one, which it has. */
export const CONFLICT: Record<number, Answer> = {
  409: {
    ...toolErrors(409)[409],
    description:
      'The scene was saved elsewhere since that revision. `scene` is what is there now: bring both together, and save with its ' +
      'revision.',
    schema: named('SceneConflict', Joi.object({ error: id, message: Joi.string(), scene: SCENE.required() })),
  },
};
/** What other schemas contain. */
export const SCENE_PARTS: readonly Joi.Schema[] = [SUMMARY, SCENE, VERSION];
