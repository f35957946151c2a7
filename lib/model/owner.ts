import { ScenepressError } from '../base/errors.ts';
import { isStorableText } from '../base/storable-text.ts';

/** The most bytes of an owner: Postgres refuses longer values in indexes. */
const LONGEST_BYTES = 1_024;

/** Checks the owner of something new. Error: `invalid_request`. */
export function newOwner(owner: unknown): string {
  if (isStorableText(owner, LONGEST_BYTES) && owner !== '') return owner;
  const rule = `of well-formed Unicode without NUL, at most ${LONGEST_BYTES} bytes`;
  throw new ScenepressError('invalid_request', `owner is a non-empty string ${rule}`);
}
