import type { Clock } from '../clock.ts';
import type { EndedRender } from './job.ts';
import { OwnerSums } from './owner-sums.ts';
import { HOUR_MS, SlidingSum } from './sliding-sum.ts';

/** How long a render affects the standing of its owner. */
export const STANDING_MS: number = 24 * HOUR_MS;

/**
 * Tracks which owners are in good standing: they had a completed render within the last 24 hours, and their completed
 * renders took at least as long as those that failed by their scenes, were canceled or still run. About 1.5 KB per owner with a
 * job that ended in that time.
 */
export class Standing {
  readonly #clock: Clock;
  readonly #times = new OwnerSums(() => ({
    completedMs: new SlidingSum(STANDING_MS),
    failedMs: new SlidingSum(STANDING_MS),
  }));

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
    const times = this.#times.for(owner, nowMs);
    // A render shorter than a millisecond counts as one.
    (isCompleted ? times.completedMs : times.failedMs).add(Math.max(1, durationMs), completedAtMs, nowMs);
  }

  /** `runningMs`: how long the owner's running renders have taken so far; they may fail. */
  isGood(owner: string, runningMs = 0): boolean {
    const times = this.#times.get(owner);
    if (!times) return false;
    const nowMs = this.#clock.now();
    const completedMs = times.completedMs.sum(nowMs);
    return completedMs > 0 && completedMs >= times.failedMs.sum(nowMs) + runningMs;
  }
}
