import Joi from 'joi';
import { checked, type Schemas } from '../base/checked.ts';
import { ScenepressError } from '../base/errors.ts';
import type { FrameSelection, Selection } from './selection.ts';

const MOST_STILLS = 8;

/** The schema of a frame. */
export const FRAME: Joi.Schema = Joi.alternatives(
  Joi.valid('last'),
  Joi.number().min(0),
  Joi.object({ play: Joi.number().integer().min(0).required() }),
);
const PLAY = Joi.number().integer().min(0).allow(null);
const FORMS =
  '`"last"`, a time in the video in seconds, or the last one of a play of the scene, counted from 0.';

/** Schemas of the fields, for the documents of the HTTP API, too. */
export const SELECTION: Schemas<FrameSelection> = {
  fromPlay: PLAY.description(
    'The first play of the video, counted from 0; earlier ones are run without being drawn. Default: the first one.',
  ),
  toPlay: PLAY.description('The last play of the video; the scene ends after it. Default: the last one.'),
  poster: FRAME.allow(null).description(
    `The frame that the thumbnail shows: ${FORMS} Default: one with much contrast.`,
  ),
  stills: Joi.array()
    .items(FRAME)
    .max(MOST_STILLS)
    .allow(null)
    .description(`Frames that also become a PNG each, at most ${MOST_STILLS}: ${FORMS}`),
};
const SCHEMA = Joi.object<FrameSelection>(SELECTION);

/** What a request has of these fields; undefined: nothing. Error: `invalid_request`. */
export function selectionOf(
  taker: string,
  given: { [Name in keyof FrameSelection]?: FrameSelection[Name] | undefined },
): Selection | undefined {
  const { fromPlay, toPlay, poster, stills } = checked(taker, given, SCHEMA);
  if (toPlay !== undefined && toPlay !== null && toPlay < (fromPlay ?? 0))
    throw new ScenepressError('invalid_request', `toPlay is ${toPlay}, before fromPlay, ${fromPlay}`);
  const selection: Selection = {
    ...(fromPlay !== undefined && fromPlay !== null && { fromPlay }),
    ...(toPlay !== undefined && toPlay !== null && { toPlay }),
    ...(poster !== undefined && poster !== null && { poster }),
    ...(stills && stills.length > 0 && { stills: [...stills] }),
  };
  return Object.keys(selection).length > 0 ? selection : undefined;
}
