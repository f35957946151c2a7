import type { SlidingSum } from './sliding-sum.ts';

/** Sliding sums of owners, in memory. Owners whose sums are 0 are removed when others are added to. */
export class OwnerSums<Sums extends Record<string, SlidingSum>> {
  readonly #make: () => Sums;
  /** The owner that was added to last comes last. */
  readonly #byOwner = new Map<string, Sums>();

  /** `make` returns the sums of a new owner. */
  constructor(make: () => Sums) {
    this.#make = make;
  }

  get size(): number {
    return this.#byOwner.size;
  }

  clear(): void {
    this.#byOwner.clear();
  }

  get(owner: string): Sums | undefined {
    return this.#byOwner.get(owner);
  }

  /** The sums of an owner, to add to. */
  for(owner: string, nowMs: number): Sums {
    const sums = this.#byOwner.get(owner) ?? this.#make();
    this.#byOwner.delete(owner);
    for (const [other, of] of this.#byOwner) {
      if (Object.values(of).some((sum) => sum.sum(nowMs) !== 0)) break;
      this.#byOwner.delete(other);
    }
    this.#byOwner.set(owner, sums);
    return sums;
  }
}
