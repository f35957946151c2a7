/** The rules of the HTTP API, for the appliance. Not public. */
export { ARTIFACT_EXPOSED_HEADERS, artifactAnswer, type RedirectTo } from './artifact-answer.ts';
export { byteRangeOf } from './byte-range.ts';
export { type Authenticate, bearerTokenOf, type Caller } from './caller.ts';
export { accountBody, enqueueBody } from './endpoints.ts';
export {
  type HttpError,
  HttpRejection,
  httpErrorOf,
  isLogged,
  nothingHere,
  unauthorized,
} from './http-errors.ts';
export { bodyRequired, decoderOf, MAX_BODY_BYTES, tooLarge } from './request-body.ts';
