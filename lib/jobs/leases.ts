import type { Clock, Timer } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Claim } from '../queue/queue.ts';
import { LEASE_MS } from './job-claims.ts';

const LOOK_MS = LEASE_MS / 6;
const RENEW_AFTER_MS = LEASE_MS / 3;
/** Early enough for a render to have ended before another worker begins with its job. */
const GIVE_UP_AFTER_MS = (2 * LEASE_MS) / 3;

export interface LeasesOptions {
  renew: (claims: Claim[]) => Promise<Claim[]>;
  /** Others may take a job up whose lease has ended. */
  isShared: boolean;
  /** A claim is worthless. */
  onWorthless: (claim: Claim) => void;
  /** A claim could not be renewed, and may soon be somebody else's. */
  onCutOff: (claim: Claim) => void;
  clock: Clock;
  logger: Logger;
}

/** Renews the claims on jobs that run here. By a monotonic clock: how long a lease lasts doesn't depend on the time of day. */
export class Leases {
  readonly #options: LeasesOptions;
  /** With the time from which each is known to hold, of `uptimeMs`. */
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

  /** `sinceMs`: before it was asked for. */
  add(claim: Claim, sinceMs: number): void {
    this.#claims.set(claim, sinceMs);
  }

  delete(claim: Claim): void {
    this.#claims.delete(claim);
  }

  /** Renews what is due, and gives up what could not be renewed for too long. */
  look(nowMs: number): void {
    const heldForMs = (sinceMs: number) => nowMs - sinceMs;
    if (this.#options.isShared) {
      for (const [claim, sinceMs] of [...this.#claims]) {
        if (heldForMs(sinceMs) < GIVE_UP_AFTER_MS) continue;
        this.#claims.delete(claim);
        this.#options.onCutOff(claim);
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
          this.#options.onWorthless(claim);
        }
      }
    } catch (error) {
      this.#options.logger.warn(
        { err: error, jobs: claims.length },
        'Claims on running jobs could not be renewed.',
      );
    } finally {
      this.#isRenewing = false;
    }
  }
}
