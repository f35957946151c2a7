import Joi from 'joi';
import { checked, TEXT } from '../base/checked.ts';
import type { PlacedAudio } from './audio.ts';
import { kindOfName } from './file-kinds.ts';

const MOST = 100;
const MOST_WORDS = 2000;
const LONGEST = { name: 200, cue: 200, text: 4000, word: 200, seconds: 100_000 };
const LONGEST_BYTES = 128 * 1024;

const text = (longest: number) => (TEXT as Joi.StringSchema).disallow('').max(longest);
const seconds = () => Joi.number().min(0).max(LONGEST.seconds);

const placed = Joi.object<PlacedAudio>({
  file: text(LONGEST.name)
    .required()
    .custom((name: string, { message }) =>
      kindOfName(name)?.kind === 'sound' && !name.startsWith('/') && !name.split('/').includes('..')
        ? name
        : message({ custom: '{{#label}} must be the name of a sound among the files of the scene' }),
    )
    .description('The name of a sound among the files of the scene.'),
  atSeconds: seconds().description('When it begins in the video.'),
  atCue: text(LONGEST.cue).description(
    'The moment at which it begins: a cue or a section of the scene, or the text of a caption.',
  ),
  text: text(LONGEST.text).description('What is said: becomes captions over the time of the sound.'),
  words: Joi.array()
    .items(Joi.object({ text: text(LONGEST.word).required(), startSeconds: seconds().required() }))
    .max(MOST_WORDS)
    .description('When its words are said, from the beginning of the file: captions follow them.'),
})
  .xor('atSeconds', 'atCue')
  .messages({
    'object.missing': '{{#label}} must have atSeconds or atCue',
    'object.xor': '{{#label}} must have one of atSeconds and atCue',
  });

/** The schema of the field `audio` of requests. */
export const AUDIO: Joi.ArraySchema = Joi.array()
  .items(placed)
  .max(MOST)
  .custom((value: unknown, { message }) =>
    JSON.stringify(value).length <= LONGEST_BYTES
      ? value
      : message({ custom: '{{#label}} must be JSON of at most 128 KiB' }),
  )
  .description(`Sounds that are placed in the video, at most ${MOST}, as one track with those of the scene.`);
const SCHEMA = Joi.object<{ audio?: PlacedAudio[] }>({ audio: AUDIO });

/** The sounds of a request. Error: `invalid_request`. */
export function audioOf(audio: unknown): PlacedAudio[] | undefined {
  return checked('audio', { audio }, SCHEMA).audio;
}
