import Joi from 'joi';
import { COUNT, type Schemas, TEXT } from '../base/checked.ts';
import { SHARE_VISIBILITIES } from '../model/share.ts';
import type { ShareChanges, ShareQuery, ShareSettings } from '../model/share-requests.ts';

/** Videos of a share. */
export const MOST_JOBS_OF_SHARE = 100;
/** Characters. */
const LONGEST_TITLE = 200;
const LONGEST_DESCRIPTION = 5_000;
const DAY_SECONDS = 24 * 60 * 60;

/** Schemas of the settings, for the documents of the HTTP API, too. */
export const SHARE_SETTINGS: Schemas<ShareSettings> = {
  jobIds: jobIds().description('The ids of completed jobs, in the order in which their videos are watched.'),
  title: text(LONGEST_TITLE).description('Null: the title of the first job.'),
  description: text(LONGEST_DESCRIPTION).description('Shown below the video; plain text.'),
  visibility: Joi.valid(...SHARE_VISIBILITIES).description(
    'Who may watch: only the account (`private`), who has the link (`link`), or anybody and search engines (`public`). ' +
      'Default: `link`.',
  ),
  poster: Joi.alternatives(
    Joi.object({ seconds: Joi.number().min(0).max(DAY_SECONDS).required() }),
    Joi.object({ play: Joi.number().integer().min(0).max(100_000).required() }),
  )
    .allow(null)
    .description(
      'The picture before the video plays: the one at a time, or at the end of a play. Null: the thumbnail.',
    ),
  allowDownload: Joi.boolean().description('Whether the watch page offers files to keep. Default: true.'),
  expiresAt: Joi.string()
    .isoDate()
    .allow(null)
    .description('When the link stops working: ISO 8601. Null: never.'),
};

/** Schemas of changes, for the documents of the HTTP API, too. */
export const SHARE_CHANGES: Schemas<ShareChanges> = {
  ...SHARE_SETTINGS,
  addJobIds: jobIds().description(
    'The ids of completed jobs, whose videos are added at the end; those that the share has stay where they are.',
  ),
  removeJobIds: jobIds().description(
    'The ids of jobs, whose videos are taken out. At least one video stays.',
  ),
  moveJob: Joi.object({
    jobId: TEXT.required(),
    place: Joi.number()
      .integer()
      .min(0)
      .max(MOST_JOBS_OF_SHARE - 1)
      .required(),
  }).description('Puts a video at another place, counted from 0.'),
};

/** Schema of a query of shares. */
export const SHARE_QUERY: Joi.ObjectSchema<ShareQuery> = Joi.object<ShareQuery>({
  owner: TEXT,
  jobId: TEXT,
  before: TEXT,
  limit: COUNT,
} satisfies Schemas<ShareQuery>);

function jobIds(): Joi.ArraySchema {
  return Joi.array().items(TEXT).min(1).max(MOST_JOBS_OF_SHARE).unique();
}

function text(longest: number): Joi.Schema {
  return (TEXT as Joi.StringSchema).disallow('').max(longest).allow(null);
}
