import type Joi from 'joi';
import type { ApiSceneSummary } from '../../../lib/client/index.ts';
import type { MovedScene } from '../scene.ts';
import { count, object, oneOf, orNull, text, time } from './parts.ts';

/** A scene of a list. */
export const scene: Joi.ObjectSchema = object<ApiSceneSummary>({
  sceneId: text,
  name: text,
  revision: count,
  lastVersion: orNull(object({ version: count, jobId: text })),
  createdAt: time,
  changedAt: time,
});

/** What a pull or a push did with a file. */
export const movedScene: Joi.ObjectSchema = object<MovedScene>({
  file: text,
  name: text,
  sceneId: text,
  revision: count,
  state: oneOf<MovedScene['state']>({ written: true, pushed: true, created: true, unchanged: true }),
});
