import assert from 'node:assert/strict';
import type { Clock } from '../../lib/index.ts';
import type { Member } from './simulated-member.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** A claim, and the time until its render or request begins. */
const CLAIMED_BEFORE_MS = 30_000;
/** Between two requests about one job. */
const LEAST_DELAY_MS = 30_000;
/** Times of webhooks are those of the processes, whose clocks should agree within that. */
const SYNCHRONOUS_MS = 3_000;

interface Rendering {
  member: Member;
  sinceMs: number;
}

/** The last request to the receiver of a job. */
interface Request {
  member: Member;
  sinceMs: number;
  /** How far the clock of its process was ahead of that of the store. */
  aheadMs: number;
  /** Undefined while it runs. */
  endedAtMs: number | undefined;
}

/** Which renders and requests processes may make at the same time. */
export class ClusterRules {
  readonly #time: SimulatedTime;
  readonly #clock: Clock;
  /** When the clock of the store was set last. */
  #clockSetAtMs = Number.NEGATIVE_INFINITY;
  readonly #requests = new Map<string, Request>();
  readonly #rendering = new Map<string, Rendering[]>();
  /** How often two processes rendered a job at the same time. */
  overlaps = 0;

  /** `clock`: that of the store. */
  constructor(time: SimulatedTime, clock: Clock) {
    this.#time = time;
    this.#clock = clock;
  }

  /** Leases end early or late. */
  clockWasSet(): void {
    this.#clockSetAtMs = this.#time.uptimeMs;
  }

  /** Two processes render a job only when one of them could not notice that its claim had lapsed. */
  renderBegun(jobId: string, member: Member): void {
    const others = (this.#rendering.get(jobId) ?? []).filter((other) => other.member.state !== 'dead');
    for (const other of others) {
      this.overlaps += 1;
      const sinceMs = other.sinceMs - CLAIMED_BEFORE_MS;
      const isExcused =
        other.member.suspendedAtMs > sinceMs ||
        member.suspendedAtMs > this.#time.uptimeMs - CLAIMED_BEFORE_MS ||
        this.#clockSetAtMs > sinceMs;
      assert(isExcused, `${member.name} begins ${jobId} while ${other.member.name} renders it`);
    }
    this.#rendering.set(jobId, [...others, { member, sinceMs: this.#time.uptimeMs }]);
  }

  renderEnded(jobId: string, member: Member): void {
    const others = (this.#rendering.get(jobId) ?? []).filter((other) => other.member !== member);
    if (others.length > 0) this.#rendering.set(jobId, others);
    else this.#rendering.delete(jobId);
  }

  /**
   * Requests about one job keep the distance of the contract, unless clocks differ, or a process was suspended in
   * between.
   */
  requestBegun(jobId: string, member: Member): void {
    const before = this.#requests.get(jobId);
    const nowMs = this.#time.uptimeMs;
    const aheadMs = member.clock.now() - this.#clock.now();
    this.#requests.set(jobId, { member, sinceMs: nowMs, aheadMs, endedAtMs: undefined });
    if (!before || Math.abs(before.aheadMs - aheadMs) > SYNCHRONOUS_MS) return;
    const claimedAtMs = before.sinceMs - CLAIMED_BEFORE_MS;
    if (before.member.suspendedAtMs > claimedAtMs || this.#clockSetAtMs > claimedAtMs) return;
    if (member.suspendedAtMs > nowMs - CLAIMED_BEFORE_MS) return;
    const endedAtMs = before.endedAtMs ?? before.sinceMs;
    const waitedMs = Math.round(nowMs - endedAtMs);
    const names = `${before.member.name}, ${member.name}`;
    assert(
      waitedMs >= LEAST_DELAY_MS - SYNCHRONOUS_MS,
      `${waitedMs} ms between two requests about ${jobId}: ${names}`,
    );
  }

  /** One that was not sent is repeated at once. */
  requestEnded(jobId: string, sent: boolean): void {
    const request = this.#requests.get(jobId);
    if (!sent) this.#requests.delete(jobId);
    else if (request) request.endedAtMs = this.#time.uptimeMs;
  }

  /** Its renders end with it. */
  died(member: Member): void {
    for (const jobId of [...this.#rendering.keys()]) this.renderEnded(jobId, member);
  }
}
