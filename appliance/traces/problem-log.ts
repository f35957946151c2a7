import type { DiagLogger } from '@opentelemetry/api';
import type { Clock, Logger } from '../../lib/index.ts';

/** A collector that does not answer fails every few seconds. */
const AGAIN_MS = 10 * 60_000;
const MOST_REASONS = 50;
const LONGEST_REASON = 300;

/** Logs the problems of OpenTelemetry's SDK, each of them rarely. */
export class ProblemLog implements DiagLogger {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #clock: Pick<Clock, 'uptimeMs'>;
  /** When each was logged. */
  readonly #logged = new Map<string, number>();

  constructor(logger: Pick<Logger, 'warn'>, clock: Pick<Clock, 'uptimeMs'>) {
    this.#logger = logger;
    this.#clock = clock;
  }

  error(message: string): void {
    this.warn(message);
  }

  warn(message: string): void {
    const reason = reasonOf(message).slice(0, LONGEST_REASON);
    const nowMs = this.#clock.uptimeMs();
    const loggedAtMs = this.#logged.get(reason) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - loggedAtMs < AGAIN_MS) return;
    if (this.#logged.size >= MOST_REASONS) this.#logged.clear();
    this.#logged.set(reason, nowMs);
    this.#logger.warn({ reason }, 'Traces may be incomplete: OpenTelemetry reported a problem.');
  }

  info(): void {}
  debug(): void {}
  verbose(): void {}
}

/** Errors are JSON, with a stack. */
function reasonOf(message: string): string {
  try {
    const { message: text, code, name } = JSON.parse(message) as Record<string, string | undefined>;
    return text || code || name || message;
  } catch {
    return message;
  }
}
