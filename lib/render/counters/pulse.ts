import type { Clock, Timer } from '../../time/clock.ts';

/** What the two sides of a pool, its owner and its threads, know of each other's {@link Pulse}. */
export type Pulses = Float64Array<SharedArrayBuffer>;

/** The side that ticks: the thread that owns the pool, or one of its worker threads. */
export type Side = 'owner' | 'workers';

const TICK_MS = 250;
/** A thread may be busy for shorter times. */
const LEAST_SILENCE_MS = 5_000;
/** For each side: its last tick, and the begin and end of its last silence, in `uptimeMs`. */
const FIELDS = 3;
const [BEAT, FROM, TO] = [0, 1, 2];

export function newPulses(): Pulses {
  return new Float64Array(new SharedArrayBuffer(2 * FIELDS * Float64Array.BYTES_PER_ELEMENT));
}

/**
 * Measures how long the whole process was stopped: by SIGSTOP, a paused container or a suspended machine. Renders are
 * neither billed nor limited for that time. It is time in which the owner of the pool and its workers missed their ticks
 * together for more than five seconds: one of them alone may have been busy.
 */
export class Pulse {
  readonly #own: Pulses;
  readonly #others: Pulses;
  readonly #clock: Clock;
  #users = 0;
  #timer: Timer | undefined;
  #lastMs = 0;
  #stoppedMs = 0;

  /** `clock`: its `uptimeMs` must be the same in all threads. */
  constructor({ pulses, side, clock }: { pulses: Pulses; side: Side; clock: Clock }) {
    const sides = [pulses.subarray(0, FIELDS), pulses.subarray(FIELDS)] as const;
    [this.#own, this.#others] = side === 'owner' ? sides : [sides[1], sides[0]];
    this.#clock = clock;
  }

  /**
   * Begins to measure. Returns a function that tells the milliseconds since then, without those in which the process was
   * stopped; call `end` when it is no longer needed.
   */
  begin(): { workedMs: () => number; end: () => void } {
    if (this.#users++ === 0) {
      this.#lastMs = this.#clock.uptimeMs();
      this.#timer = this.#clock.every(TICK_MS, () => this.#tick());
    }
    const startedMs = this.#tick();
    const stoppedBeforeMs = this.#stoppedMs;
    return {
      workedMs: () => this.#tick() - startedMs - (this.#stoppedMs - stoppedBeforeMs),
      end: () => {
        if (--this.#users === 0) this.#timer?.cancel();
      },
    };
  }

  /** The present time. */
  #tick(): number {
    const nowMs = this.#clock.uptimeMs();
    const fromMs = this.#lastMs + TICK_MS;
    this.#lastMs = nowMs;
    this.#own[BEAT] = nowMs;
    if (nowMs - fromMs > LEAST_SILENCE_MS) {
      this.#own[FROM] = fromMs;
      this.#own[TO] = nowMs;
      this.#stoppedMs += this.#sharedMs(fromMs, nowMs);
    }
    return nowMs;
  }

  /** The part of a silence in which the other side was silent, too. It may not have ticked since. */
  #sharedMs(fromMs: number, toMs: number): number {
    const [beatMs = 0, othersFromMs = 0, othersToMs = 0] = this.#others;
    const isSilent = toMs - beatMs > LEAST_SILENCE_MS;
    const [beginMs, endMs] = isSilent ? [beatMs, toMs] : [othersFromMs, othersToMs];
    return Math.max(0, Math.min(toMs, endMs) - Math.max(fromMs, beginMs));
  }
}
