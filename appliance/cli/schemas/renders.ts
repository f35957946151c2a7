import Joi from 'joi';
import type { LocalRender } from '../../../lib/index.ts';
import { diagnosis, failedBy } from './findings.ts';
import { usage } from './jobs.ts';
import { list, number, object, oneOf, text } from './parts.ts';

const path = text.allow(null);

/** Paths of the files that were written. */
const files = {
  video: path.description(
    'The path of the video, the picture or the folder of pictures; null: none was made.',
  ),
  thumbnail: path.description('The path of the thumbnail; null without `--thumbnail`.'),
  captions: path.description('The path of the captions; null if the scene has none.'),
  sections: path.description('The folder of the videos of sections; null without `--save_sections`.'),
};
const error = text
  .allow(null)
  .description('Why it failed, for the author of the scene; null unless it failed.');

type Result = Pick<
  LocalRender,
  'status' | 'durationMs' | 'usage' | 'error' | 'failedBy' | 'diagnosis' | 'output'
> &
  Record<keyof typeof files, string | null> & { scene: string };

const result = object<Result>({
  scene: text,
  status: oneOf<LocalRender['status']>({ completed: true, failed: true }),
  ...files,
  durationMs: number.description('How long the render took, in milliseconds.'),
  usage,
  error,
  failedBy,
  diagnosis,
  output: text.description('What the scene printed, and warnings.'),
});

export const renders: Joi.AlternativesSchema = Joi.alternatives(
  result.description('One scene.'),
  list(result).description('Several scenes, or `--all`.'),
  list(text).description('With `--list`: the names of the scenes.'),
);
