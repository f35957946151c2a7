/**
 * The stable codes of {@link ScenepressError}.
 *
 * | code | meaning | what to do |
 * |---|---|---|
 * | `invalid_request` | a request breaks a rule; the message names it | change the request |
 * | `insufficient_credits` | the balance is below the reserve; no job exists | add credits, try again |
 * | `not_found` | no such job, key, account or artifact for this owner | - |
 * | `artifact_gone` | the artifact existed and was removed since | render again |
 * | `owner_refused` | no jobs of this owner are taken on | - |
 * | `conflict` | it contradicts what is there: a thing that exists already, a file that was changed | as the message says |
 * | `queue_full` | as many jobs wait as may | try again later |
 * | `too_many_failures` | too much of the owner's failed, or was canceled, within an hour | try again after `retryAfterMs` |
 * | `not_running` | the service isn't started, or is stopping | call `start()`, or try later |
 * | `renderer_unavailable` | no worker can render: the message says what is missing | as the message says |
 * | `storage_locked` | another process owns the data folder | stop it, or use another folder |
 * | `storage_damaged` | stored data can't be read | as the message says |
 * | `storage_full` | the disk has room only for ending what has begun | free space; the service goes on by itself |
 * | `storage_failed` | a write didn't reach the disk; nothing was changed | look at the disk, then try again |
 * | `master_key` | the master key is missing or isn't the one that the secrets were encrypted with | as the message says |
 */
export type ErrorCode =
  | 'invalid_request'
  | 'insufficient_credits'
  | 'not_found'
  | 'owner_refused'
  | 'artifact_gone'
  | 'conflict'
  | 'queue_full'
  | 'too_many_failures'
  | 'not_running'
  | 'renderer_unavailable'
  | 'storage_locked'
  | 'storage_damaged'
  | 'storage_full'
  | 'storage_failed'
  | 'master_key';

/** The one error class for what can happen at run time. Misuse by the programmer is an assertion instead. */
export class ScenepressError extends Error {
  readonly code: ErrorCode;
  /** After how many milliseconds the same may succeed; undefined where that isn't known. */
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; retryAfterMs?: number }) {
    super(message, options);
    this.name = 'ScenepressError';
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** True for a {@link ScenepressError} with one of the codes given, or with any code when none is given. */
export function isScenepressError(error: unknown, ...codes: ErrorCode[]): error is ScenepressError {
  return error instanceof ScenepressError && (codes.length === 0 || codes.includes(error.code));
}
