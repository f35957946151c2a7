import type { Clock, Timer } from '../../time/clock.ts';

/** An index that was not used that long is dropped. */
const UNUSED_MS = 15 * 60_000;
const SWEEP_MS = 60_000;

/** What is in memory for searches. */
interface Index {
  /** What it takes in memory, about. */
  readonly sizeBytes: number;
  /** Ends its reads. */
  drop(): void;
  /** Lets go of what was removed from it. */
  purge(): void;
}

interface Used<One> {
  index: One;
  usedMs: number;
}

/** Indexes in memory, in the order of use: dropped when they take too much together, or are not used. */
export class UsedIndexes<Key, One extends Index> {
  readonly #clock: Clock;
  readonly #mostBytes: number;
  readonly #make: (key: Key) => One;
  readonly #indexes = new Map<Key, Used<One>>();
  #sweep: Timer | undefined;

  /** `mostBytes`: of all together. */
  constructor({ clock, mostBytes, make }: { clock: Clock; mostBytes: number; make: (key: Key) => One }) {
    this.#clock = clock;
    this.#mostBytes = mostBytes;
    this.#make = make;
  }

  *[Symbol.iterator](): Iterator<One> {
    for (const { index } of this.#indexes.values()) yield index;
  }

  /** The index of a key, which is used now. */
  of(key: Key): One {
    const index = this.#indexes.get(key)?.index ?? this.#make(key);
    this.#indexes.delete(key);
    this.#indexes.set(key, { index, usedMs: this.#clock.uptimeMs() });
    this.#sweep ??= this.#clock.every(SWEEP_MS, () => this.#sweepUnused());
    this.#keepWithin();
    return index;
  }

  /** The index of a key, if there is one. */
  known(key: Key): One | undefined {
    return this.#indexes.get(key)?.index;
  }

  drop(key: Key): void {
    this.#indexes.get(key)?.index.drop();
    this.#indexes.delete(key);
    if (this.#indexes.size > 0) return;
    this.#sweep?.cancel();
    this.#sweep = undefined;
  }

  dropAll(): void {
    for (const key of [...this.#indexes.keys()]) this.drop(key);
  }

  /** The least recently used are dropped first; the one in use stays. */
  #keepWithin(): void {
    let bytes = [...this].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    for (const [key, { index }] of [...this.#indexes].slice(0, -1)) {
      if (bytes <= this.#mostBytes) return;
      bytes -= index.sizeBytes;
      this.drop(key);
    }
  }

  #sweepUnused(): void {
    const now = this.#clock.uptimeMs();
    for (const [key, { index, usedMs }] of [...this.#indexes]) {
      if (now - usedMs > UNUSED_MS) this.drop(key);
      else index.purge();
    }
  }
}
