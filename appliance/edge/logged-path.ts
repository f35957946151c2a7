import { redact } from '../support/redact.ts';

const LONGEST = 256;
/** Escapes may be escaped themselves. */
const DECODINGS = 4;
/** Where a job's id stands in a path, that is what the line is about; anywhere else so many digits may be a secret. */
const JOB_PATH =
  /^\/(?:api\/v2\/render|artifacts)\/[0-9a-f]{48}(?:\/(?:video\.mp4|thumbnail\.jpg|captions\.vtt))?$/;
/** Cut before the general rules see it: those leave what follows a character that no secret has. */
const PREFIXED = /(svc_live_|whsec_)[^/]*/gi;

/**
 * The path of a request as the log has it: of bounded length, without what looks like a key or a secret, however it
 * is escaped, and without a query, which a malformed address may have kept.
 */
export function loggedPath(path: string): string {
  if (JOB_PATH.test(path)) return path;
  const [bare = ''] = path.split(/[?#]/, 1);
  // Bounded before it is decoded; a secret at the cut is shorter, but is still found by its prefix.
  const written = bare.slice(0, 4 * LONGEST);
  const decoded = decode(written);
  const clean = cut(decoded);
  const shown = clean === decoded ? cut(written) : clean;
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}

function cut(text: string): string {
  return redact(text.replace(PREFIXED, '$1…'));
}

/** Without percent-encoding, as far as there is any that means something. */
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
