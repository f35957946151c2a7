/** The HTTP API for any server with `Request` and `Response`. Start at {@link webHandler}. */
import '../base/node-version.ts';
import '../base/bundled.ts';

export type { KeyScope } from '../keys/key-scopes.ts';
export type { RedirectTo } from './artifact-answer.ts';
export type { Authenticate, Caller } from './caller.ts';
export { type HttpError, httpErrorOf, httpStatusOf } from './http-errors.ts';
export { fastifyPlugin, nodeHandler, routeHandlers } from './node-handler.ts';
export { hasScope } from './scopes.ts';
export { type WebHandler, type WebOptions, webHandler } from './web-handler.ts';

// What the appliance shares with the handler.

/** @internal */
export { known } from '../base/known-options.ts';
/** @internal */
export { ARTIFACT_EXPOSED_HEADERS, artifactAnswer } from './artifact-answer.ts';
/** @internal */
export { byteRangeOf } from './byte-range.ts';
/** @internal */
export { bearerTokenOf } from './caller.ts';
/** @internal */
export { accountBody, enqueueBody } from './endpoints.ts';
/** @internal */
export { answerTo, HttpRejection, isLogged, nothingHere, unauthorized } from './http-errors.ts';
/** @internal */
export { openApiDocument } from './openapi/render-document.ts';
/** @internal */
export { ENQUEUE, GET_ACCOUNT, GET_JOB } from './openapi/render-endpoints.ts';
/** @internal */
export { bodyIncomplete, bodyRequired, decoderOf, MAX_BODY_BYTES, tooLarge } from './request-body.ts';
/** @internal */
export { TO_READ, TO_RENDER } from './scopes.ts';
/** @internal */
export { answerTool } from './tools/answer.ts';
/** @internal */
export { toolsDocument } from './tools/document.ts';
/** @internal */
export { TOOLS_PATH } from './tools/route.ts';
/** @internal */
export { Streams } from './tools/streams.ts';
/** @internal */
export type { ToolsService } from './tools/tools-service.ts';
