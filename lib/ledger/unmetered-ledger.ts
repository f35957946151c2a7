import type { Balance, Ledger } from './ledger.ts';
import { DEFAULT_FREE_CREDITS_PER_MONTH } from './stored-ledger.ts';

/** For those who render on their own hardware: everything is granted, nothing is charged. */
export class UnmeteredLedger implements Ledger {
  readonly chargesNothing = true;
  readonly #freeCredits: number;

  /** `freeCreditsPerMonth`: what `/me` shows as the month's allowance, never spent. */
  constructor({
    freeCreditsPerMonth = DEFAULT_FREE_CREDITS_PER_MONTH,
  }: { freeCreditsPerMonth?: number } = {}) {
    this.#freeCredits = freeCreditsPerMonth;
  }

  /** It keeps no books, so every transaction suits it. */
  joins(): boolean {
    return true;
  }

  async reserve(): Promise<'reserved'> {
    return 'reserved';
  }

  async settle(): Promise<{ kind: 'settled'; chargedCredits: number }> {
    return { kind: 'settled', chargedCredits: 0 };
  }

  async void(): Promise<void> {}

  async balance(): Promise<Balance> {
    return { paid: 0, free: this.#freeCredits, total: this.#freeCredits };
  }

  async available(): Promise<number> {
    return Number.POSITIVE_INFINITY;
  }
}
