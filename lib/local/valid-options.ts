import { availableParallelism } from 'node:os';
import Joi from 'joi';
import { COUNT, type Schemas } from '../base/checked.ts';
import type { RenderLimits } from '../model/limits.ts';
import { LIMITS } from '../render/run/limit-options.ts';
import { SPEECH, type ValidSpeech } from '../speech/speech-options.ts';
import type { LocalRendererOptions } from './local-options.ts';

type Valid = LocalRendererOptions & { workers: number; limits: RenderLimits; speech?: ValidSpeech };

/** The options of `LocalRenderer`, with defaults. */
export const LOCAL_OPTIONS: Joi.ObjectSchema<Valid> = Joi.object<Valid>({
  folder: Joi.string().required(),
  sceneFolder: Joi.any(),
  cacheFolder: Joi.string(),
  studioFolder: Joi.string(),
  workers: COUNT.default(availableParallelism),
  limits: LIMITS,
  renderer: Joi.any(),
  speech: SPEECH,
  logger: Joi.any(),
  clock: Joi.any(),
} satisfies Schemas<LocalRendererOptions>);
