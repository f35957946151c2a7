import { setImmediate as turn } from 'node:timers/promises';

const LONGEST_MS = 4;

/** Measures how long synchronous work has blocked the event loop: microtasks alone do not yield to other events. */
export class Spell {
  #begunMs: number | undefined;

  /** True when the caller should await {@link end} before more work. */
  get isLong(): boolean {
    if (this.#begunMs !== undefined) return performance.now() - this.#begunMs > LONGEST_MS;
    this.#begunMs = performance.now();
    setImmediate(() => {
      this.#begunMs = undefined;
    });
    return false;
  }

  /** Yields to the event loop. */
  async end(): Promise<void> {
    await turn();
  }
}
