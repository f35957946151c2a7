/** Errors of the system that say that the machine, or the service's share of it, is short of something. */
const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOBUFS']);
/** Errors that go away by themselves, of stores that are reached over a network. */
const OUTAGES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EAI_AGAIN',
]);

/** True when something failed for lack of descriptors, memory, processes or buffers. */
export function isShortage(error: unknown): boolean {
  return hasCode(error, SHORTAGES);
}

/** True when something failed that may succeed later without anybody's doing: a shortage, or a network that is down. */
export function isTransient(error: unknown): boolean {
  return isShortage(error) || hasCode(error, OUTAGES);
}

function hasCode(error: unknown, codes: Set<string>): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string' && codes.has(code)) return true;
  }
  return false;
}
