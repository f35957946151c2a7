import { ARTIFACT_NAMES } from '../../lib/internal.ts';
import { redact } from '../support/redact.ts';

const LONGEST = 256;
/** Maximum levels of nested escapes that are decoded. */
const DECODINGS = 4;
/** Paths that contain a job id; elsewhere, a number this long may be a secret. */
const JOB_PATH = new RegExp(
  `^/(?:api/v2/render|artifacts)/[0-9a-f]{48}(?:/(?:${ARTIFACT_NAMES.join('|').replaceAll('.', '\\.')}))?$`,
);
/** Links to shared videos, of assignments and of classes, whose tokens are secrets. */
const SHARED = /^\/(w|embed|dashboard\/a|dashboard\/join)\/[^/]+/i;
/** Redacted up to the next slash; the general rules would stop at a character that no secret contains. */
const PREFIXED = /(svc_live_|whsec_)[^/]*/gi;

/**
 * The path of a request for the log: of limited length, without apparent keys and secrets, however escaped, and
 * without a query, which a malformed URL may still contain.
 */
export function loggedPath(path: string): string {
  if (JOB_PATH.test(path)) return path;
  const [bare = ''] = path.split(/[?#]/, 1);
  // Truncated before it is decoded; a secret at the end is then shorter, but still recognized by its prefix.
  const written = bare.slice(0, 4 * LONGEST);
  const decoded = decode(written);
  const clean = cut(decoded);
  const shown = clean === decoded ? cut(written) : clean;
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}

function cut(text: string): string {
  return redact(text.replace(SHARED, '/$1/…').replace(PREFIXED, '$1…'));
}

/** Decodes percent-escapes of ASCII characters, also nested ones. */
function decode(text: string): string {
  let decoded = text;
  for (let count = 0; count < DECODINGS; count += 1) {
    const next = decoded.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}
