import { FakeClock } from '../fixtures/fake-clock.ts';

/** The time of several machines: their clocks advance together, and show what they were set to. */
export class SimulatedTime {
  readonly #running = new Set<FakeClock>();
  /** When clocks were suspended, by `uptimeMs`. */
  readonly #suspended = new Map<FakeClock, number>();
  #uptimeMs = 0;

  /** Milliseconds since the start. */
  get uptimeMs(): number {
    return this.#uptimeMs;
  }

  /** A clock that shows that time now. */
  start(nowMs: number): FakeClock {
    const clock = new FakeClock(new Date(nowMs).toISOString());
    this.#running.add(clock);
    return clock;
  }

  /** The clock never advances again. */
  end(clock: FakeClock): void {
    this.#running.delete(clock);
    this.#suspended.delete(clock);
  }

  /** Nothing happens by this clock until {@link resume}; time passes nevertheless. */
  suspend(clock: FakeClock): void {
    if (this.#running.delete(clock)) this.#suspended.set(clock, this.#uptimeMs);
  }

  resume(clock: FakeClock): void {
    const sinceMs = this.#suspended.get(clock);
    if (sinceMs === undefined) return;
    this.#suspended.delete(clock);
    clock.stall(this.#uptimeMs - sinceMs);
    this.#running.add(clock);
  }

  /** Until the next timer of any clock; undefined if there is none. */
  get nextInMs(): number | undefined {
    let next: number | undefined;
    for (const { nextInMs } of this.#running)
      if (nextInMs !== undefined && (next === undefined || nextInMs < next)) next = nextInMs;
    return next;
  }

  advance(ms: number): void {
    this.#uptimeMs += ms;
    for (const clock of [...this.#running]) clock.advance(ms);
  }

  /** As {@link FakeClock.postpone}. */
  postpone(ms: number): void {
    for (const clock of this.#running) clock.postpone(ms);
  }
}
