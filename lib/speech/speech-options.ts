import Joi from 'joi';
import { COUNT, LIMIT, POSITIVE, type Schemas } from '../base/checked.ts';
import type { SpeechOptions } from '../model/speech.ts';

type Limits = Required<Pick<SpeechOptions, 'timeoutMs' | 'concurrency' | 'cacheBytes'>>;

/** Options with their defaults. */
export type ValidSpeech = SpeechOptions & Limits;

/** The limits of speech unless an option says otherwise. */
export const DEFAULT_SPEECH: Limits = {
  timeoutMs: 60_000,
  concurrency: 2,
  cacheBytes: 1024 ** 3,
};

const LONGEST_TIMER_MS = 2 ** 31 - 1;
const WAYS = ['speak', 'command', 'url'] as const;
const ONE_WAY = '{{#label}} must have one of speak, command and url';

/** The option `speech`. */
export const SPEECH: Joi.ObjectSchema<ValidSpeech> = Joi.object<ValidSpeech>({
  speak: Joi.function(),
  command: Joi.alternatives(Joi.string(), Joi.array().items(Joi.string()).min(1)),
  url: Joi.string().uri({ scheme: ['http', 'https'] }),
  version: Joi.string(),
  timeoutMs: POSITIVE.max(LONGEST_TIMER_MS).default(DEFAULT_SPEECH.timeoutMs),
  concurrency: COUNT.default(DEFAULT_SPEECH.concurrency),
  cacheBytes: LIMIT.default(DEFAULT_SPEECH.cacheBytes),
  cacheFolder: Joi.string(),
} satisfies Schemas<SpeechOptions>)
  .xor(...WAYS)
  .messages({ 'object.missing': ONE_WAY, 'object.xor': ONE_WAY });
