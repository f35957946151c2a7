import type { S3ClientConfig } from '@aws-sdk/client-s3';
import type { Clock } from '../../time/clock.ts';

type Strategy = Extract<NonNullable<S3ClientConfig['retryStrategy']>, { recordSuccess: unknown }>;
type Token = Awaited<ReturnType<Strategy['acquireInitialRetryToken']>> & { begunMs?: number };
type ErrorInfo = Parameters<Strategy['refreshRetryTokenForRetry']>[1];

/** Of the delays, which double. */
const FIRST_MS = { TRANSIENT: 100, THROTTLING: 500 };
const MOST_MS = 20_000;
/** What a server may ask for beyond that. */
const MOST_MORE_MS = 5_000;

/**
 * Repeats requests after network errors, 429 and 5xx, as the SDK does by itself, but without its quota: all requests of a
 * client share that, so that after an outage none would be repeated.
 *
 * After a time-out, a request is repeated only once, on another connection: a client waits for its artifact meanwhile.
 */
export class S3Retries implements Strategy {
  readonly #attempts: number;
  readonly #timeoutMs: number;
  readonly #clock: Clock;

  constructor({ attempts, timeoutMs }: { attempts: number; timeoutMs: number }, clock: Clock) {
    this.#attempts = attempts;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  async acquireInitialRetryToken(): Promise<Token> {
    return this.#token(0, 0, this.#clock.uptimeMs());
  }

  async refreshRetryTokenForRetry(token: Token, info: ErrorInfo): Promise<Token> {
    const { error, errorType, retryAfterHint } = info;
    const retries = token.getRetryCount() + 1;
    const { begunMs = 0 } = token;
    const isSilent =
      error?.name === 'TimeoutError' && this.#clock.uptimeMs() >= begunMs + 2 * this.#timeoutMs;
    if ((errorType !== 'TRANSIENT' && errorType !== 'THROTTLING') || retries >= this.#attempts || isSilent)
      throw new Error('The request is not repeated.');
    const delayMs = Math.min(FIRST_MS[errorType] * 2 ** (retries - 1), MOST_MS);
    const askedMs = retryAfterHint ? retryAfterHint.getTime() - this.#clock.now() : 0;
    return this.#token(retries, Math.max(delayMs, Math.min(askedMs, delayMs + MOST_MORE_MS)), begunMs);
  }

  recordSuccess(): void {}

  #token(retries: number, delayMs: number, begunMs: number): Token {
    return { getRetryCount: () => retries, getRetryDelay: () => delayMs, begunMs };
  }
}
