import { createHash } from 'node:crypto';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';

/** 144 random bits. */
const TOKEN_BYTES = 18;
const TOKEN = /^[A-Za-z0-9_-]{24}$/;

/** When a link ends. Times are epoch milliseconds. */
export interface LinkTimes {
  /** Null: never. */
  expiresAtMs: number | null;
  /** Null: not revoked. */
  revokedAtMs: number | null;
}

/** The secret part of a link, and the hash by which the link is found. */
export function newToken(random: Random): { token: string; tokenHash: string } {
  const token = random.bytes(TOKEN_BYTES).toString('base64url');
  return { token, tokenHash: sha256(token) };
}

/** SHA-256 of a token, in hexadecimal; undefined for what is no token. */
export function tokenHashOf(token: string): string | undefined {
  return TOKEN.test(token) ? sha256(token) : undefined;
}

/** Whether a link has ended at a time, and why. */
export function endOfLink(
  { expiresAtMs, revokedAtMs }: LinkTimes,
  nowMs: number,
): 'expired' | 'revoked' | undefined {
  if (revokedAtMs !== null) return 'revoked';
  return expiresAtMs !== null && expiresAtMs <= nowMs ? 'expired' : undefined;
}

/** An ISO 8601 time as epoch milliseconds; null: never. Error: `invalid_request` for one that has passed. */
export function expiryOf(expiresAt: string | null | undefined, nowMs: number): number | null {
  if (expiresAt === undefined || expiresAt === null) return null;
  const expiresAtMs = Date.parse(expiresAt);
  if (expiresAtMs > nowMs) return expiresAtMs;
  throw new ScenepressError(
    'invalid_request',
    'expiresAt must be a time in the future, such as 2030-01-31T12:00:00Z.',
  );
}

/** What a link that does not work tells: no more than that, whatever the reason. */
export function noLongerValid(): ScenepressError {
  return new ScenepressError('not_found', 'This link is no longer valid.');
}

function sha256(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
