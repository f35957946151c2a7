import type { IncomingMessage } from 'node:http';
import type { Request, ServerAuthSchemeObject } from '@hapi/hapi';
import {
  bearerTokenOf,
  type Caller,
  type HttpRejection,
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

interface BearerOptions {
  /** The caller needs one of these scopes; default: any key. */
  anyOf?: readonly KeyScope[];
  /** The answer to a request without a live key. */
  refusal?: (request: Request) => HttpRejection;
}

/**
 * A hapi auth scheme: `Authorization: Bearer <key>`, or 401, also for a key without any of the scopes. hapi checks
 * scopes of its own later, when it has told the client to send its body.
 */
export function bearerScheme(
  authenticate: (token: string, request: Request) => Promise<Caller | null> | Caller | null,
  { anyOf, refusal = () => unauthorized() }: BearerOptions = {},
): ServerAuthSchemeObject {
  const callerOf = async (request: Request): Promise<Caller> => {
    const token = bearerToken(request.raw.req);
    const caller = token === undefined ? null : await authenticate(token, request);
    if (!caller || (anyOf && !hasScope(caller, ...anyOf))) throw refusal(request);
    return caller;
  };
  return {
    async authenticate(request, h) {
      try {
        return h.authenticated({ credentials: { app: { caller: await callerOf(request) } } });
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
