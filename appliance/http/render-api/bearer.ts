import type { IncomingMessage } from 'node:http';
import { Boom } from '@hapi/boom';
import type { Request, ServerAuthSchemeObject } from '@hapi/hapi';
import { discardBody } from './request-body.ts';

/** The authenticated client of a request. */
export interface Caller {
  /** The owner of jobs and credits: `userId` on the wire. */
  owner: string;
  /** Null for a caller without a stored key: webhooks of its jobs aren't signed. */
  keyId: string | null;
  /** Safe to show and to log. */
  keyPrefix: string;
  /** Webhook URL for requests that name none; null: none. */
  webhookUrl: string | null;
}

/** The caller behind a token; null for a token that is malformed, unknown or revoked. */
export type Authenticate = (token: string) => Promise<Caller | null> | Caller | null;

// Scheme names are case-insensitive (RFC 9110 §11.1); the token contains no spaces.
const BEARER = /^Bearer +(\S+) *$/i;

/** The token in the `Authorization` header of a request; undefined without one. */
export function bearerToken({ headers }: IncomingMessage): string | undefined {
  return BEARER.exec(headers.authorization ?? '')?.[1];
}

const EXPECTS_CONTINUE = /^100-continue$/i;

/** The hapi auth scheme of `/api/v2`: `Authorization: Bearer <key>`, or 401. */
export function bearerScheme(authenticate: Authenticate): ServerAuthSchemeObject {
  return {
    async authenticate(request, h) {
      const token = bearerToken(request.raw.req);
      const caller = token === undefined ? null : await authenticate(token);
      if (!caller) {
        const { req } = request.raw;
        // A client that waits for 100 (Continue) hasn't sent its body.
        if (!EXPECTS_CONTINUE.test(req.headers.expect ?? '')) await discardBody(req);
        throw unauthorized();
      }
      return h.authenticated({ credentials: { app: { caller } } });
    },
  };
}

/** The caller of a request; undefined without a live key. */
export function callerOf(request: Request): Caller | undefined {
  return (request.auth.credentials?.app as { caller?: Caller } | undefined)?.caller;
}

/** The error of a request without a valid token. */
export function unauthorized(message = 'The API key is invalid or missing.'): Boom {
  const error = new Boom(message, { statusCode: 401 });
  error.output.headers['WWW-Authenticate'] = 'Bearer';
  return error;
}
