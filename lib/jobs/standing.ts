import type { Clock } from '../clock.ts';
import type { EndedRender } from '../storage/storage.ts';
import { HOUR_MS, SlidingSum } from './sliding-sum.ts';

/** How long a render affects the standing of its owner. */
export const STANDING_MS: number = 24 * HOUR_MS;

const SWEEP_MS = HOUR_MS;

interface Times {
  completedMs: SlidingSum;
  failedMs: SlidingSum;
}

/**
 * Tracks which owners are in good standing: they had a completed render within the last 24 hours, and their completed
 * renders took at least as long as those that failed by their scenes or were canceled. About 1.5 KB per owner with a
 * job that ended in that time.
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

  /** Counts a terminal job. Renderer failures and full disks are not counted. */
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
    // A render shorter than a millisecond counts as one.
    (isCompleted ? times.completedMs : times.failedMs).add(Math.max(1, durationMs), completedAtMs, nowMs);
  }

  isGood(owner: string): boolean {
    const times = this.#times.get(owner);
    if (!times) return false;
    const nowMs = this.#clock.now();
    const completedMs = times.completedMs.sum(nowMs);
    return completedMs > 0 && completedMs >= times.failedMs.sum(nowMs);
  }

  /** Removes owners without renders in the window. */
  #sweep(nowMs: number): void {
    if (Math.abs(nowMs - this.#sweptAtMs) < SWEEP_MS) return;
    this.#sweptAtMs = nowMs;
    for (const [owner, { completedMs, failedMs }] of this.#times) {
      if (completedMs.sum(nowMs) === 0 && failedMs.sum(nowMs) === 0) this.#times.delete(owner);
    }
  }
}
