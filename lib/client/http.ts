import { Backoff } from '../time/backoff.ts';
import { type Clock, delay } from '../time/clock.ts';
import { ApiError, apiErrorOf } from './api-error.ts';

/** Longer delays that a server asks for are left to the caller. */
const LONGEST_RETRY_AFTER_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

export interface HttpOptions {
  fetch: typeof globalThis.fetch;
  clock: Clock;
  /** How often a request is made, all in all. */
  attempts: number;
  /** How long a server may take to send headers. */
  timeoutMs: number;
}

/**
 * Makes a request, and repeats it after network errors, 429 and 5xx: 1, 2, 4, …, 60 seconds later, or when the
 * server says.
 * Resolves with a 2xx response. Errors: {@link ApiError}; the reason of `signal`; the error of `fetch` or a time-out.
 */
export async function send(
  url: string,
  init: RequestInit,
  { fetch, clock, attempts, timeoutMs }: HttpOptions,
  signal?: AbortSignal,
): Promise<Response> {
  const backoff = new Backoff(FIRST_RETRY_MS, LONGEST_RETRY_MS);
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const timeout = new AbortController();
    const timer = clock.after(timeoutMs, () =>
      timeout.abort(new DOMException(`The server did not answer within ${timeoutMs} ms.`, 'TimeoutError')),
    );
    let error: unknown;
    try {
      const either = signal ? AbortSignal.any([timeout.signal, signal]) : timeout.signal;
      const response = await fetch(url, { ...init, signal: either });
      if (response.ok) return response;
      error = await apiErrorOf(response);
    } catch (cause) {
      error = cause;
    } finally {
      timer.cancel();
    }
    signal?.throwIfAborted();
    const asked = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    const isFinal = error instanceof ApiError && !error.isTransient;
    if (isFinal || attempt >= attempts || asked > LONGEST_RETRY_AFTER_MS) throw error;
    await delay(clock, Math.max(asked, backoff.next()), signal);
  }
}
