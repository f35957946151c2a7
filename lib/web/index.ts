/** The HTTP API for any server with `Request` and `Response`. Start at {@link webHandler}. */
export {
  ARTIFACT_EXPOSED_HEADERS,
  type ArtifactAnswer,
  artifactAnswer,
} from './artifact-answer.ts';
export { type Authenticate, bearerTokenOf, type Caller } from './caller.ts';
export { accountBody, enqueueBody } from './endpoints.ts';
export {
  type HttpError,
  HttpRejection,
  httpErrorOf,
  httpStatusOf,
  isLogged,
  nothingHere,
  unauthorized,
} from './http-errors.ts';
export { bodyRequired, decoderOf, MAX_BODY_BYTES, tooLarge } from './request-body.ts';
export { type WebHandler, type WebOptions, webHandler } from './web-handler.ts';
