import type { Clock } from './clock.ts';

const STEADY_AFTER_MS = 50 * 60_000;
/** The largest adjustment between two checks that counts as clock synchronization. */
const STEP_MS = 60_000;

/**
 * Whether the system clock can be trusted for removing old data. After the clock was set it may be wrong by years; it
 * is trusted once it has advanced in step with the uptime for 50 minutes.
 */
export class SteadyClock {
  readonly #clock: Clock;
  #last: { nowMs: number; uptimeMs: number } | undefined;
  #steadySinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call it when the service starts, and before each removal. */
  look(): boolean {
    const [nowMs, uptimeMs] = [this.#clock.now(), this.#clock.uptimeMs()];
    const last = this.#last;
    this.#last = { nowMs, uptimeMs };
    const wasSet = !last || Math.abs(nowMs - last.nowMs - (uptimeMs - last.uptimeMs)) > STEP_MS;
    if (wasSet) this.#steadySinceMs = uptimeMs;
    return uptimeMs - this.#steadySinceMs >= STEADY_AFTER_MS;
  }
}
