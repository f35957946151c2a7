import { Boom } from '@hapi/boom';
import type { Request, ServerAuthSchemeObject } from '@hapi/hapi';
import { discardBody } from './request-body.ts';

/** Who makes a request: what a live key stands for. */
export interface Caller {
  /** The owner of jobs and credits: `userId` on the wire. */
  owner: string;
  /** Null for a caller without a stored key: its jobs are signed by none. */
  keyId: string | null;
  /** Safe to show and to log. */
  keyPrefix: string;
  /** Where outcomes go when a request doesn't say; null: nowhere. */
  webhookUrl: string | null;
}

/** The caller behind a token; null for a token that is malformed, unknown or revoked. */
export type Authenticate = (token: string) => Promise<Caller | null> | Caller | null;

// A scheme's name has no case (RFC 9110 §11.1); the token is the rest, without spaces in it.
const BEARER = /^Bearer +([^\s]+) *$/i;

const EXPECTS_CONTINUE = /^100-continue$/i;

/** The hapi auth scheme of `/api/v2`: `Authorization: Bearer <key>`, or 401. */
export function bearerScheme(authenticate: Authenticate): ServerAuthSchemeObject {
  return {
    async authenticate(request, h) {
      const token = BEARER.exec(request.raw.req.headers.authorization ?? '')?.[1];
      const caller = token === undefined ? null : await authenticate(token);
      if (!caller) {
        const { req } = request.raw;
        // A client that waits for 100 (Continue) sends no body before it is answered.
        if (!EXPECTS_CONTINUE.test(req.headers.expect ?? '')) await discardBody(req);
        throw unauthorized();
      }
      return h.authenticated({ credentials: { app: { caller } } });
    },
  };
}

/** Who makes this request; undefined where no live key came with it. */
export function callerOf(request: Request): Caller | undefined {
  return (request.auth.credentials?.app as { caller?: Caller } | undefined)?.caller;
}

function unauthorized(): Boom {
  const error = new Boom('The API key is invalid or missing.', { statusCode: 401 });
  error.output.headers['WWW-Authenticate'] = 'Bearer';
  return error;
}
