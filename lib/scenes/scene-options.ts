import Joi from 'joi';
import { COUNT, type Schemas, TEXT } from '../base/checked.ts';
import type {
  DuplicateScene,
  NewScene,
  RemoveScene,
  RenameScene,
  RenderScene,
  RestoreScene,
  SaveScene,
  SceneQuery,
  SceneScope,
  VersionQuery,
} from './scene-requests.ts';

const OBJECT = Joi.object().unknown();
const MOST = 500;
const LIMIT = COUNT.max(MOST);

export const SCOPE: Joi.ObjectSchema<SceneScope> = Joi.object({ owner: TEXT } satisfies Schemas<SceneScope>);
export const NEW: Joi.ObjectSchema<NewScene> = Joi.object({
  owner: TEXT.required(),
  name: Joi.any(),
  className: Joi.any(),
  code: Joi.any(),
  settings: OBJECT,
  jobId: TEXT,
} satisfies Schemas<NewScene>);
export const SAVE: Joi.ObjectSchema<SaveScene> = Joi.object({
  owner: TEXT,
  revision: COUNT.required(),
  className: Joi.any(),
  code: Joi.any(),
  settings: OBJECT,
  keepsReplaced: Joi.boolean(),
} satisfies Schemas<SaveScene>);
export const RENAME: Joi.ObjectSchema<RenameScene> = Joi.object({
  owner: TEXT,
  name: Joi.any(),
} satisfies Schemas<RenameScene>);
export const DUPLICATE: Joi.ObjectSchema<DuplicateScene> = Joi.object({
  owner: TEXT,
  name: Joi.any(),
} satisfies Schemas<DuplicateScene>);
export const REMOVE: Joi.ObjectSchema<RemoveScene> = Joi.object({
  owner: TEXT,
  forgetJobs: Joi.boolean(),
} satisfies Schemas<RemoveScene>);
export const RESTORE: Joi.ObjectSchema<RestoreScene> = Joi.object({
  owner: TEXT,
  revision: COUNT.required(),
  draft: COUNT,
  version: COUNT,
} satisfies Schemas<RestoreScene>).xor('draft', 'version');
export const RENDER: Joi.ObjectSchema<RenderScene> = Joi.object({
  owner: TEXT,
  revision: COUNT,
  changes: OBJECT,
  // Checked as those of a request.
  keyId: Joi.any(),
  webhook: Joi.any(),
  webhookUrl: Joi.any(),
  metadata: Joi.any(),
  metadataJson: Joi.any(),
  idempotency: Joi.any(),
  traceContext: Joi.any(),
  signal: Joi.any(),
} satisfies Schemas<RenderScene>);
export const QUERY: Joi.ObjectSchema<SceneQuery> = Joi.object({
  owner: TEXT.required(),
  text: Joi.string().allow('').max(1000),
  after: TEXT,
  limit: LIMIT,
} satisfies Schemas<SceneQuery>);
export const VERSIONS: Joi.ObjectSchema<VersionQuery> = Joi.object({
  owner: TEXT,
  before: COUNT,
  limit: LIMIT,
} satisfies Schemas<VersionQuery>);
