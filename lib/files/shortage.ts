import { isScenepressError, ScenepressError } from '../base/errors.ts';
import { isOutOfSpace } from './disk.ts';

/** System errors for an exhausted resource. */
const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'ENOBUFS']);
/** Temporary network errors of remote stores. */
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

/** True when the error was caused by a lack of file descriptors, memory, processes or buffers. */
export function isShortage(error: unknown): boolean {
  return hasCode(error, SHORTAGES);
}

/** The error of a shortage that another process has met. */
export function newShortage(message: string): Error {
  return Object.assign(new Error(message), { code: 'EAGAIN' });
}

/** The error `storage_full` for one of a full disk; others as they are. */
export function namedIfFull(error: unknown): unknown {
  if (!isOutOfSpace(error) || isScenepressError(error)) return error;
  return new ScenepressError('storage_full', 'The disk is full. Try again later.', { cause: error });
}

/**
 * True for a temporary error, which a retry may fix: a resource shortage, a network outage, or an error that says after
 * which time to retry.
 */
export function isTransient(error: unknown): boolean {
  const mayRetry = isScenepressError(error) && error.retryAfterMs !== undefined;
  return mayRetry || isShortage(error) || hasCode(error, OUTAGES);
}

function hasCode(error: unknown, codes: Set<string>): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as NodeJS.ErrnoException;
    if (typeof code === 'string' && codes.has(code)) return true;
  }
  return false;
}
