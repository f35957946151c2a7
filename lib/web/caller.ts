import type { KeyScope } from '../keys/key-scopes.ts';

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
  /** What it may do; default: everything. Its account it may always see. */
  scopes?: readonly KeyScope[];
}

/** The caller behind a token; null for a token that is malformed, unknown, revoked or expired. */
export type Authenticate = (token: string) => Promise<Caller | null> | Caller | null;

// Scheme names are case-insensitive (RFC 9110 §11.1); the token contains no spaces.
const BEARER = /^Bearer +(\S+) *$/i;

/** The token of an `Authorization` header; undefined without one. */
export function bearerTokenOf(authorization: string | null | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1];
}
