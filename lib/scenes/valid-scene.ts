import Joi from 'joi';
import { checked, type Schemas } from '../base/checked.ts';
import { ScenepressError } from '../base/errors.ts';
import { isStorableText } from '../base/storable-text.ts';
import { newJobOf } from '../jobs/accept/new-job.ts';
import { isClassName } from '../model/render-request.ts';
import type { DraftRecord, SceneSettings } from '../model/scene.ts';
import { LARGEST_CODE } from './scene-limits.ts';

const LONGEST_NAME = 200;
/** Controls and direction marks would break lines of lists, and let a name look like another. */
const UNREADABLE = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]/u;

/** What a draft consists of. */
export type DraftTexts = Pick<DraftRecord, 'className' | 'code' | 'settings'>;

const SETTINGS: Schemas<SceneSettings> = {
  quality: Joi.any(),
  aspectRatio: Joi.any(),
  fps: Joi.any(),
  tags: Joi.any(),
  seed: Joi.any(),
  params: Joi.any(),
  audio: Joi.any(),
  formats: Joi.any(),
  fromPlay: Joi.any(),
  toPlay: Joi.any(),
  poster: Joi.any(),
  stills: Joi.any(),
  files: Joi.any(),
};
const SETTINGS_SCHEMA = Joi.object<SceneSettings>(SETTINGS);
const NAMES = Object.keys(SETTINGS) as (keyof SceneSettings)[];

/** A text in one line; `what`: what the error calls it. Error: `invalid_request`. */
export function validName(name: unknown, what = 'name'): string {
  const isName = isStorableText(name) && name.trim() !== '' && name.length <= LONGEST_NAME;
  if (isName && !UNREADABLE.test(name)) return name.trim();
  throw invalid(`${what} is a text of at most ${LONGEST_NAME} characters in one line`);
}

/**
 * The texts of a draft, of which code and class name may be unfinished: empty. The settings must be those of a request. Error:
 * `invalid_request`.
 */
export function validDraft({ className, code, settings }: Record<keyof DraftTexts, unknown>): DraftTexts {
  if (className !== '' && !isClassName(className))
    throw invalid('className must be a valid Python identifier, or empty while none is chosen');
  if (!isStorableText(code, LARGEST_CODE)) {
    const most = LARGEST_CODE.toLocaleString('en');
    throw invalid(`code is a text of well-formed Unicode without NUL, at most ${most} bytes`);
  }
  return { className, code, settings: validSettings(settings) };
}

/** Settings with their names in one order. Error: `invalid_request`. */
export function validSettings(given: unknown): SceneSettings {
  const settings = checked('settings', given, SETTINGS_SCHEMA);
  const named = NAMES.filter((name) => settings[name] !== undefined);
  const valid = Object.fromEntries(named.map((name) => [name, settings[name]])) as SceneSettings;
  const { given: contents } = newJobOf({ owner: 'any', code: 'pass', className: 'Any', ...valid });
  if (contents) throw invalid('settings.files is an object with ids of files by their names');
  return valid;
}

/** Bytes of the texts of a draft. */
export function sizeOf({ className, code, settings }: DraftTexts): number {
  return Buffer.byteLength(className) + Buffer.byteLength(code) + Buffer.byteLength(JSON.stringify(settings));
}

function invalid(message: string): ScenepressError {
  return new ScenepressError('invalid_request', message);
}
