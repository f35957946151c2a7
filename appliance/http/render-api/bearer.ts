import type { IncomingMessage } from 'node:http';
import type { Request, ServerAuthSchemeObject } from '@hapi/hapi';
import {
  type Authenticate,
  bearerTokenOf,
  type Caller,
  hasScope,
  type KeyScope,
  unauthorized,
} from '../../../lib/web/index.ts';
import { discardBody } from './request-body.ts';

/** The token in the `Authorization` header of a request; undefined without one. */
export function bearerToken({ headers }: IncomingMessage): string | undefined {
  return bearerTokenOf(headers.authorization);
}

const EXPECTS_CONTINUE = /^100-continue$/i;

/**
 * A hapi auth scheme of `/api/v2`: `Authorization: Bearer <key>`, or 401, also for a key without any of the scopes. hapi checks
 * scopes of its own later, when it has told the client to send its body.
 */
export function bearerScheme(
  authenticate: Authenticate,
  anyOf?: readonly KeyScope[],
): ServerAuthSchemeObject {
  return {
    async authenticate(request, h) {
      const token = bearerToken(request.raw.req);
      try {
        const caller = token === undefined ? null : await authenticate(token);
        if (!caller || (anyOf && !hasScope(caller, ...anyOf))) throw unauthorized();
        return h.authenticated({ credentials: { app: { caller } } });
      } catch (error) {
        const { req } = request.raw;
        // A client that waits for 100 (Continue) hasn't sent its body.
        if (!EXPECTS_CONTINUE.test(req.headers.expect ?? '')) await discardBody(req);
        throw error;
      }
    },
  };
}

/** The caller of a request; undefined without a live key. */
export function callerOf(request: Request): Caller | undefined {
  return (request.auth.credentials?.app as { caller?: Caller } | undefined)?.caller;
}

/** The caller of a request to a route with {@link bearerScheme}. */
export function authenticated(request: Request): Caller {
  const caller = callerOf(request);
  if (!caller) throw new Error('the route has no authentication');
  return caller;
}
