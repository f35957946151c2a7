import type { Clock } from './clock.ts';

const STEADY_AFTER_MS = 50 * 60_000;
/** What a clock that is only kept in step may be moved by between two looks. */
const STEP_MS = 60_000;

/**
 * Tells whether what is old by the clock may be removed. A clock that was set may be wrong for a while, by years; it is
 * trusted when it has gone as fast as the machine's uptime for 50 minutes.
 */
export class SteadyClock {
  readonly #clock: Clock;
  #last: { nowMs: number; uptimeMs: number } | undefined;
  #steadySinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be called at the start of a service, and before each removal. */
  look(): boolean {
    const [nowMs, uptimeMs] = [this.#clock.now(), this.#clock.uptimeMs()];
    const last = this.#last;
    this.#last = { nowMs, uptimeMs };
    const wasSet = !last || Math.abs(nowMs - last.nowMs - (uptimeMs - last.uptimeMs)) > STEP_MS;
    if (wasSet) this.#steadySinceMs = uptimeMs;
    return uptimeMs - this.#steadySinceMs >= STEADY_AFTER_MS;
  }
}
