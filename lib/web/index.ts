/** The HTTP API for any server with `Request` and `Response`. Start at {@link webHandler}. */
import '../node-version.ts';
import '../bundled.ts';

export type { RedirectTo } from './artifact-answer.ts';
export type { Authenticate, Caller } from './caller.ts';
export { type HttpError, httpErrorOf, httpStatusOf } from './http-errors.ts';
export { fastifyPlugin, nodeHandler, routeHandlers } from './node-handler.ts';
export { type WebHandler, type WebOptions, webHandler } from './web-handler.ts';
