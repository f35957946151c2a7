import { isScenepressError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { Backoff } from '../../time/backoff.ts';
import { type Clock, delay } from '../../time/clock.ts';
import { isConflict, isDisconnection, isDuplicate } from './errors.ts';

const MOST_CONFLICTS = 20;
const MOST_DUPLICATES = 3;

/** Decides whether work that failed is run again. One for each transaction or read. */
export class Retries {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #retryForMs: number;
  readonly #conflicts = new Backoff(2, 200);
  readonly #disconnections = new Backoff(20, 1000);
  readonly #counts = { conflicts: 0, duplicates: 0, damages: 0 };
  #lostMs: number | undefined;

  constructor({ clock, random, retryForMs }: { clock: Clock; random: Random; retryForMs: number }) {
    this.#clock = clock;
    this.#random = random;
    this.#retryForMs = retryForMs;
  }

  /**
   * Resolves with true, after a delay, when the work is to be run again. `isOurs`: the error is that of the database,
   * not of something else that the work called.
   */
  async isWorthwhile(error: unknown, { isOurs }: { isOurs: boolean }): Promise<boolean> {
    // A text may have been read just before and its key just after another transaction has forgotten both.
    if (isScenepressError(error, 'storage_damaged')) {
      this.#counts.damages += 1;
      return this.#counts.damages <= 1;
    }
    if (!isOurs) return false;
    if (isConflict(error)) {
      this.#counts.conflicts += 1;
      return this.#counts.conflicts <= MOST_CONFLICTS && this.#wait(this.#conflicts.next());
    }
    if (isDuplicate(error)) {
      this.#counts.duplicates += 1;
      return this.#counts.duplicates <= MOST_DUPLICATES;
    }
    if (!isDisconnection(error)) return false;
    this.#lostMs ??= this.#clock.uptimeMs();
    const leftMs = this.#lostMs + this.#retryForMs - this.#clock.uptimeMs();
    return leftMs > 0 && this.#wait(Math.min(leftMs, this.#disconnections.next()));
  }

  /** Waits for a random part of a delay: transactions that conflicted must not conflict again. */
  #wait(ms: number): Promise<boolean> {
    const [byte = 0] = this.#random.bytes(1);
    return delay(this.#clock, ms * (0.5 + byte / 512));
  }
}
