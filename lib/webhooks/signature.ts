/**
 * Verifies and signs webhooks: `scenepress/webhooks`. Imports only `node:crypto` and the check of options of the
 * library, because receivers of webhooks need nothing else.
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { known } from '../base/known-options.ts';

/** Older signatures are rejected as replays (contract §6.3). */
export const DEFAULT_TOLERANCE_SECONDS = 300;

const HEX_SHA256 = /^[0-9a-f]{64}$/i;
const UNIX_SECONDS = /^\d{1,15}$/;

/** The failed check, in the order of the checks. */
export type WebhookFlaw =
  /** There is no signature header. */
  | 'missing_header'
  /** `t` or `v1` is missing or malformed. */
  | 'malformed_header'
  /** The body or the time was altered, or another secret was used. */
  | 'wrong_signature'
  /** It was signed too long ago, or too far in the future; it may be a replay. */
  | 'outside_tolerance';

/** Whether a webhook is genuine; otherwise what is wrong, for programs and for people. */
export type WebhookVerdict =
  | {
      valid: true;
      /** The time of signing, in epoch milliseconds. */
      signedAtMs: number;
    }
  | { valid: false; flaw: WebhookFlaw; message: string };

/** Options of {@link verifyWebhook}. */
export interface VerifyWebhookOptions {
  /** Maximum difference between the time of signing and now. Default 300. */
  toleranceSeconds?: number;
  /** Epoch milliseconds; default: the system's clock. */
  now?: number;
}

/**
 * Verifies a webhook on the receiver's side (contract §6.3).
 *
 * ```ts
 * const verdict = verifyWebhook(rawBody, request.headers['svc-signature'], secret);
 * if (!verdict.valid) return respond(400, verdict.message);
 * ```
 *
 * @param rawBody the body's bytes as they arrived, before any parsing
 * @param header the value of `svc-signature`
 * @param secret the key's webhook secret, `whsec_…`
 */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  header: string | null | undefined,
  secret: string,
  options: VerifyWebhookOptions = {},
): WebhookVerdict {
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = Date.now() } = known('verifyWebhook', options, {
    toleranceSeconds: true,
    now: true,
  });
  assertSecret(secret);
  if (!header) return flawed('missing_header', 'There is no svc-signature header.');
  const members = membersOf(header);
  const [t, v1] = [members.get('t'), members.get('v1')];
  if (t === undefined || !UNIX_SECONDS.test(t)) {
    return flawed('malformed_header', 'svc-signature has no t=<unix seconds>.');
  }
  if (v1 === undefined || !HEX_SHA256.test(v1)) {
    return flawed('malformed_header', 'svc-signature has no v1=<64 hexadecimal digits>.');
  }
  if (!timingSafeEqual(hmac(t, rawBody, secret), Buffer.from(v1, 'hex'))) {
    return flawed('wrong_signature', 'The signature is not that of this body with this secret.');
  }
  const ageSeconds = Math.floor(now / 1000) - Number(t);
  if (!(Math.abs(ageSeconds) <= toleranceSeconds)) {
    const when = ageSeconds > 0 ? `${ageSeconds} s ago` : `${-ageSeconds} s in the future`;
    return flawed('outside_tolerance', `It was signed ${when}; ${toleranceSeconds} s are tolerated.`);
  }
  return { valid: true, signedAtMs: Number(t) * 1000 };
}

/**
 * The value of `svc-signature` for a body (contract §6.2). Also useful in tests of receivers.
 *
 * ```ts
 * const body = JSON.stringify({ jobId: 'a', status: 'completed' });
 * await fetch(receiver, { method: 'POST', body, headers: { 'svc-signature': signWebhook(body, 'whsec_…') } });
 * ```
 *
 * @param now epoch milliseconds; default: the system's clock
 */
export function signWebhook(
  rawBody: Uint8Array | string,
  secret: string,
  options: { now?: number } = {},
): string {
  const { now = Date.now() } = known('signWebhook', options, { now: true });
  assertSecret(secret);
  const t = String(Math.floor(now / 1000));
  return `t=${t},v1=${hmac(t, rawBody, secret).toString('hex')}`;
}

function assertSecret(secret: string): void {
  if (typeof secret !== 'string' || secret === '')
    throw new TypeError('a webhook secret is a non-empty string');
}

function hmac(t: string, rawBody: Uint8Array | string, secret: string): Buffer {
  return createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest();
}

/** Splits at commas, and each part at its first `=`. */
function membersOf(header: string): Map<string, string> {
  return new Map(
    header.split(',').map((part) => {
      const at = part.indexOf('=');
      return at < 0 ? [part, ''] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    }),
  );
}

function flawed(flaw: WebhookFlaw, message: string): WebhookVerdict {
  return { valid: false, flaw, message };
}
