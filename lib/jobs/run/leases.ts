import type { Logger } from '../../base/logger.ts';
import type { Claim } from '../../storage/queue/queue.ts';
import type { Clock, Timer } from '../../time/clock.ts';
import { LEASE_MS } from './job-claims.ts';

const LOOK_MS = LEASE_MS / 12;
/** Early enough that a fail-over of the database, which takes about ten seconds, ends no render. */
const RENEW_AFTER_MS = LEASE_MS / 6;
/** Early enough that the render has stopped before another worker can start the job. */
const GIVE_UP_AFTER_MS = (2 * LEASE_MS) / 3;

export interface LeasesOptions {
  renew: (claims: Claim[]) => Promise<Claim[]>;
  /** Other processes may claim jobs whose leases have expired. */
  isShared: boolean;
  /** Called when a claim is no longer valid. */
  onLost: (claim: Claim) => void;
  /** Called when a claim could not be renewed for so long that another worker may soon have it. */
  onExpired: (claim: Claim) => void;
  clock: Clock;
  logger: Logger;
}

/**
 * Renews the claims on running jobs. Uses the monotonic clock, so changes of the system time do not affect leases.
 */
export class Leases {
  readonly #options: LeasesOptions;
  /** Claims, and the `uptimeMs` of their last renewal. */
  readonly #claims = new Map<Claim, number>();
  #timer: Timer | undefined;
  #isRenewing = false;

  constructor(options: LeasesOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock } = this.#options;
    this.#timer ??= clock.every(LOOK_MS, () => this.look(clock.uptimeMs()));
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** `sinceMs`: the `uptimeMs` before the claim was requested. */
  add(claim: Claim, sinceMs: number): void {
    this.#claims.set(claim, sinceMs);
  }

  delete(claim: Claim): void {
    this.#claims.delete(claim);
  }

  /** Renews due claims and gives up those that could not be renewed for too long. */
  look(nowMs: number): void {
    const heldForMs = (sinceMs: number) => nowMs - sinceMs;
    if (this.#options.isShared) {
      for (const [claim, sinceMs] of [...this.#claims]) {
        if (heldForMs(sinceMs) < GIVE_UP_AFTER_MS) continue;
        this.#claims.delete(claim);
        this.#options.onExpired(claim);
      }
    }
    const isDue = [...this.#claims.values()].some((sinceMs) => heldForMs(sinceMs) >= RENEW_AFTER_MS);
    if (isDue && !this.#isRenewing) void this.#renew(nowMs);
  }

  async #renew(nowMs: number): Promise<void> {
    this.#isRenewing = true;
    const claims = [...this.#claims.keys()];
    try {
      const held = new Set((await this.#options.renew(claims)).map(({ jobId }) => jobId));
      for (const claim of claims) {
        if (!this.#claims.has(claim)) continue; // Its attempt ended meanwhile.
        if (held.has(claim.jobId)) this.#claims.set(claim, nowMs);
        else {
          this.#claims.delete(claim);
          this.#options.onLost(claim);
        }
      }
    } catch (error) {
      this.#options.logger.warn(
        { err: error, jobs: claims.length },
        'Renewing the claims on running jobs failed.',
      );
    } finally {
      this.#isRenewing = false;
    }
  }
}
