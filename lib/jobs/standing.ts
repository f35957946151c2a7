import type { Clock } from '../clock.ts';
import type { EndedRender } from '../storage/storage.ts';
import { HOUR_MS, SlidingSum } from './sliding-sum.ts';

/** How long a render speaks for or against its owner. */
export const STANDING_MS: number = 24 * HOUR_MS;

const SWEEP_MS = HOUR_MS;

interface Times {
  completedMs: SlidingSum;
  failedMs: SlidingSum;
}

/**
 * Which owners the workers' time is well spent on: those of whom something was completed within the last 24 hours, and
 * whose completed renders took at least as long as those that failed by their scenes or were canceled. Some 1.5 KB for
 * each owner with a job that ended in that time.
 */
export class Standing {
  readonly #clock: Clock;
  readonly #times = new Map<string, Times>();
  #sweptAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  clear(): void {
    this.#times.clear();
  }

  /** Counts a job that is over. Renderer failures and full disks are not counted. */
  note({ owner, phase, failedBy, durationMs, completedAtMs }: EndedRender): void {
    const isCompleted = phase === 'completed';
    const isOwners = phase === 'failed' && failedBy !== undefined && failedBy !== 'service';
    if (completedAtMs === null || durationMs === null || !(isCompleted || isOwners)) return;
    const nowMs = this.#clock.now();
    this.#sweep(nowMs);
    const times = this.#times.get(owner) ?? {
      completedMs: new SlidingSum(STANDING_MS),
      failedMs: new SlidingSum(STANDING_MS),
    };
    this.#times.set(owner, times);
    // A render of no measurable length counts as one millisecond.
    (isCompleted ? times.completedMs : times.failedMs).add(Math.max(1, durationMs), completedAtMs, nowMs);
  }

  isGood(owner: string): boolean {
    const times = this.#times.get(owner);
    if (!times) return false;
    const nowMs = this.#clock.now();
    const completedMs = times.completedMs.sum(nowMs);
    return completedMs > 0 && completedMs >= times.failedMs.sum(nowMs);
  }

  /** Forgets owners whose renders are all too long ago. */
  #sweep(nowMs: number): void {
    if (Math.abs(nowMs - this.#sweptAtMs) < SWEEP_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [owner, { completedMs, failedMs }] of this.#times) {
      if (completedMs.sum(nowMs) === 0 && failedMs.sum(nowMs) === 0) this.#times.delete(owner);
    }
  }
}
