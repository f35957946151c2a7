import Joi from 'joi';
import { checked, TEXT } from '../../base/checked.ts';
import { AUDIO } from '../../model/audio-rules.ts';
import { JOB_FORMATS, MOST_FORMATS, othersOf } from '../../model/formats.ts';
import { PARAMS, paramsOf } from '../../model/param-rules.ts';
import type { EnqueueRequest, JobLabels } from '../../model/requests.ts';
import type { FrameSelection, Selection } from '../../model/selection.ts';
import { SELECTION, selectionOf } from '../../model/selection-rules.ts';

/** The fields of a request that the contract does not have. */
type Fields = Pick<
  EnqueueRequest,
  'title' | 'tags' | 'project' | 'seed' | 'params' | 'audio' | 'formats' | keyof FrameSelection
>;

/** What a request has of these fields. */
export interface Labels extends Omit<Fields, keyof FrameSelection> {
  selection?: Selection;
}

const LONGEST_TITLE = 200;
const LONGEST_TAG = 50;
const MOST_TAGS = 20;
const LONGEST_PROJECT = 100;
/** NumPy takes no larger seed. */
const LARGEST_SEED = 2 ** 32 - 1;

/** Schemas of the fields, for the documents of the HTTP API, too. */
export const LABELS: { readonly [Name in keyof Required<Fields>]: Joi.Schema } = {
  title: text(LONGEST_TITLE).description('A name for people.'),
  tags: Joi.array().items(text(LONGEST_TAG)).max(MOST_TAGS).unique().description('Words to find the job by.'),
  project: text(LONGEST_PROJECT).description('The project that it is part of, like a folder.'),
  seed: Joi.number()
    .integer()
    .min(0)
    .max(LARGEST_SEED)
    .description("Of the scene's random numbers. Default: another one in each render."),
  params: PARAMS,
  audio: AUDIO,
  formats: Joi.array()
    .items(Joi.valid(...JOB_FORMATS))
    .max(MOST_FORMATS + 1)
    .unique()
    .description(
      `What else the job makes, paid by the time that it takes: at most ${MOST_FORMATS} besides \`mp4\`.`,
    ),
  ...SELECTION,
};
const SCHEMA = Joi.object<Fields>(LABELS);

/** What a request has of these fields. Error: `invalid_request`. */
export function labelsOf(given: { [Name in keyof Fields]?: Fields[Name] | undefined }): Labels {
  const checkedFields = checked('enqueue', given, SCHEMA);
  const { title, tags = [], project, seed, params, audio = [], formats, ...frames } = checkedFields;
  const selection = selectionOf('enqueue', frames);
  const others = [...(formats ?? []), ...(selection?.stills ? (['stills'] as const) : [])];
  return {
    ...(title !== undefined && { title }),
    ...(tags.length > 0 && { tags: [...tags] }),
    ...(project !== undefined && { project }),
    ...(seed !== undefined && { seed }),
    ...(params !== undefined && { params: paramsOf(params) ?? {} }),
    ...(audio.length > 0 && { audio: [...audio] }),
    ...((formats || others.length > 0) && { formats: ['mp4', ...othersOf(others)] }),
    ...(selection && { selection }),
  };
}

/** Schemas of the labels that change after the request. */
export const CHANGED_LABELS: { readonly [Name in keyof Required<JobLabels>]: Joi.Schema } = {
  title: LABELS.title.allow(null).description('A name for people; null: none.'),
  tags: LABELS.tags,
  starred: Joi.boolean().strict().description('Whether it is marked.'),
  project: LABELS.project.allow(null).description('The project that it is part of; null: none.'),
};
const CHANGES = Joi.object<JobLabels>(CHANGED_LABELS).min(1);

/** Error: `invalid_request`. */
export function changedLabels(given: JobLabels): JobLabels {
  return checked('relabel', given, CHANGES);
}

function text(longest: number): Joi.StringSchema {
  return (TEXT as Joi.StringSchema).disallow('').max(longest);
}
