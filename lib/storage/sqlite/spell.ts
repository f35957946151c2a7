import { setImmediate as turn } from 'node:timers/promises';

const LONGEST_MS = 4;

/**
 * How long the loop has been held by work that never waits for anything: promises alone don't let the rest of the
 * service go on.
 */
export class Spell {
  #begunMs: number | undefined;

  /** True when the next piece of work should wait for {@link end}. */
  get isLong(): boolean {
    if (this.#begunMs !== undefined) return performance.now() - this.#begunMs > LONGEST_MS;
    this.#begunMs = performance.now();
    setImmediate(() => {
      this.#begunMs = undefined;
    });
    return false;
  }

  /** Lets the rest of the service go on. */
  async end(): Promise<void> {
    await turn();
  }
}
