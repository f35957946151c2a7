import Joi from 'joi';
import type { LocalRender } from '../../../lib/index.ts';
import { ARTIFACTS, type ArtifactField } from '../../../lib/internal.ts';
import type { FinishedEvent, ProgressEvent, StartedEvent } from '../render-events.ts';
import { OTHER_ARTIFACTS } from '../render-output.ts';
import type { RenderedScene } from '../render-scenes.ts';
import { diagnosis, failedBy } from './findings.ts';
import { ofProgress, usage } from './jobs.ts';
import { list, number, object, oneOf, text } from './parts.ts';

/** Paths of what `--formats` has named. */
const ofFormats = Object.fromEntries(
  Object.values(ARTIFACTS)
    .filter(({ format }) => format !== null)
    .map(({ field, description }) => [
      field,
      text.allow(null).optional().description(`With \`--formats\`; null: it has none. ${description}`),
    ]),
);

/** Without the artifacts that a table lists. */
type Whole<T> = Omit<T, Exclude<ArtifactField, 'video'>>;

const STATUS: Record<LocalRender['status'], true> = { completed: true, failed: true };

/** Paths of the other artifacts. */
const ofArtifacts = Object.fromEntries(
  OTHER_ARTIFACTS.map(({ field, description }) => [
    field,
    text.allow(null).required().description(`The path, or null without one: ${description}`),
  ]),
);

/** Paths of the files that were written, and why there are none. */
const ofResult = {
  video: text
    .allow(null)
    .description('The path of the video, the picture or the folder of pictures; null: none was made.'),
  sections: text.allow(null).description('The folder of the sections; null without `--save_sections`.'),
  error: text.allow(null).description('Why it failed, for the author of the scene; null if it completed.'),
  failedBy,
  diagnosis,
};

const result = object<Whole<RenderedScene>>({
  scene: text,
  status: oneOf(STATUS),
  ...ofResult,
  durationMs: number.description('How long the render took, in milliseconds.'),
  usage,
  output: text.description('What the scene printed, and warnings.'),
}).keys({ ...ofArtifacts, ...ofFormats });

const started = object<StartedEvent>({ event: Joi.valid('started'), file: text, scene: text });

const { stage, frames, seconds } = ofProgress;
const progress = object<ProgressEvent>({
  event: Joi.valid('progress'),
  ...{ file: text, scene: text, stage, frames, videoSeconds: seconds },
});

const finished = object<Whole<FinishedEvent>>({
  event: Joi.valid('finished'),
  file: text,
  scene: text.allow(null).description('Null if the scenes of the file are not known.'),
  status: oneOf<FinishedEvent['status']>({ ...STATUS, skipped: true }).description(
    '`skipped`: it could not be tried.',
  ),
  ...ofResult,
  seconds: number.allow(null).description('How long the render took; null if there was none.'),
}).keys({ ...ofArtifacts, ...ofFormats });

export const renders: Joi.AlternativesSchema = Joi.alternatives(
  result.description('One scene.'),
  list(result).description('Several scenes of a file, or `--all`.'),
  list(text).description('With `--list`: the names of the scenes.'),
  started.description('A line, with several files: the render of a scene begins.'),
  progress.description('A line, with several files: its progress, at most once a second.'),
  finished.description('A line, with several files: what became of it.'),
);
