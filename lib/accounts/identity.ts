import { ScenepressError } from '../base/errors.ts';

/** A person at an issuer of access tokens: what its tokens say as `iss` and `sub`. */
export interface Identity {
  issuer: string;
  subject: string;
}

/** Error: `invalid_request`. A subject has at most 255 characters (OpenID Connect Core, section 2). */
export function checkIdentity({ issuer, subject }: Identity): void {
  if (!URL.canParse(issuer)) throw new ScenepressError('invalid_request', 'An issuer is named by its URL.');
  if (/^[^\p{C}]{1,255}$/u.test(subject) && subject.trim() === subject) return;
  throw new ScenepressError(
    'invalid_request',
    'A subject has 1 to 255 characters, without control characters and without spaces around them.',
  );
}

/** The error of an account with the identity of another. */
export function identityTaken(): ScenepressError {
  return new ScenepressError('conflict', 'Another account is linked to this subject of the issuer.');
}
