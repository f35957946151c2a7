/**
 * A response of the API other than 2xx (contract §7).
 *
 * ```ts
 * try {
 *   await client.enqueue({ className: 'Hello', code });
 * } catch (error) {
 *   if (error instanceof ApiError && error.code === 'insufficient_credits') showCredits(await client.account());
 *   else throw error;
 * }
 * ```
 */
export class ApiError extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** The `error` of the response, such as `insufficient_credits` or `code is required`. */
  readonly code: string;
  /** The `Request-Id` of the response, under which the log of the server has the cause; null without one. */
  readonly requestId: string | null;
  /** Milliseconds after which the request may be repeated; undefined when the server names none. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    more: { requestId?: string | null; retryAfterMs?: number | undefined } = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.requestId = more.requestId ?? null;
    this.retryAfterMs = more.retryAfterMs;
  }

  /** Whether the same request may succeed later. */
  get isTransient(): boolean {
    return this.status >= 500 || this.status === 429;
  }
}

/** The error of a response. */
export async function apiErrorOf(response: Response): Promise<ApiError> {
  const { status, statusText, headers } = response;
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const more = {
    requestId: headers.get('request-id'),
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
  };
  const body: unknown = await response.json().catch(() => undefined);
  const { error, message } = (typeof body === 'object' && body !== null ? body : {}) as Record<
    string,
    unknown
  >;
  const code = typeof error === 'string' ? error : statusText || `HTTP ${status}`;
  return new ApiError(status, code, typeof message === 'string' ? message : code, more);
}
