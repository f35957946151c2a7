/**
 * The stable codes of {@link ScenepressError}.
 *
 * | code | meaning | what to do |
 * |---|---|---|
 * | `invalid_request` | a request breaks a rule; the message names it | change the request |
 * | `insufficient_credits` | the balance is below the reserve; no job exists | add credits, try again |
 * | `not_found` | no such job, key, account or artifact for this owner | - |
 * | `artifact_gone` | the artifact has been removed | render again |
 * | `owner_refused` | jobs of this owner are not accepted | - |
 * | `conflict` | the request conflicts with existing state: a duplicate, a file that changed | see the message |
 * | `queue_full` | the queue is full, or as many jobs of the owner wait as may | try again later |
 * | `too_many_failures` | too many renders of the owner failed or were canceled within an hour | try again after `retryAfterMs` |
 * | `too_many_requests` | the owner has asked for more than the rate allows | try again after `retryAfterMs` |
 * | `too_much_stored` | the jobs of the owner take as many bytes as they may | forget some of them, then try again |
 * | `not_running` | the service is not started, or is stopping | call `start()`, or try later |
 * | `renderer_unavailable` | no worker can render; the message says what is missing | see the message |
 * | `storage_locked` | another process uses the data folder or the work folder | stop it, or use another folder |
 * | `storage_damaged` | stored data cannot be read | see the message |
 * | `storage_full` | the disk is full; only work in progress can finish | free disk space; the service then continues |
 * | `storage_failed` | disk I/O or the asset store failed; the message says whether anything was changed | see the message, then try again |
 * | `master_key` | the master key is missing, or is not the one that encrypted the secrets | see the message |
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
  | 'too_many_requests'
  | 'too_much_stored'
  | 'not_running'
  | 'renderer_unavailable'
  | 'storage_locked'
  | 'storage_damaged'
  | 'storage_full'
  | 'storage_failed'
  | 'master_key';

const MARK = Symbol.for('scenepress.error');

/**
 * The error class for all runtime errors. Programming errors throw an `AssertionError` instead.
 *
 * ```ts
 * try {
 *   await service.enqueue({ owner: 'ada', className: 'Hello', code });
 * } catch (error) {
 *   if (!isScenepressError(error, 'queue_full')) throw error;
 *   console.log(`Try again in ${error.retryAfterMs ?? 1000} ms.`);
 * }
 * ```
 */
export class ScenepressError extends Error {
  /** Stable, and safe to show. */
  readonly code: ErrorCode;
  /** Milliseconds after which a retry may succeed; undefined when unknown. */
  readonly retryAfterMs: number | undefined;

  static {
    Object.defineProperty(ScenepressError.prototype, MARK, { value: true });
  }

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown; retryAfterMs?: number }) {
    super(message, options);
    this.name = 'ScenepressError';
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/**
 * True for a {@link ScenepressError} with one of the given codes, or with any code when none is given.
 *
 * ```ts
 * if (isScenepressError(error, 'queue_full', 'too_many_failures')) await retryLater(request, error.retryAfterMs);
 * ```
 */
export function isScenepressError(error: unknown, ...codes: ErrorCode[]): error is ScenepressError {
  // Not `instanceof`: a bundler may have made a copy of the class.
  const marked = error instanceof Error && MARK in error;
  return marked && (codes.length === 0 || codes.includes((error as unknown as ScenepressError).code));
}
