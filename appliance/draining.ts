import type { Server } from '@hapi/hapi';
import { ScenepressError } from '../lib/index.ts';

declare module '@hapi/hapi' {
  interface PluginsStates {
    /** Set on requests whose end a {@link Draining} waits for. */
    scenepressUnderWay?: true;
  }
}

/**
 * The beginning of an orderly end: requests for renders that came before are answered, new ones refused. Everything
 * else goes on being answered, so that clients can follow the renders that still run.
 */
export class Draining {
  /**
   * How many, not which: a set would keep them from being garbage. V8 makes its table anew now and then; the old one
   * points to the next, and once one has grown old, all that follow outlive the requests in them, and these with them.
   */
  #underWay = 0;
  #last: (() => void) | undefined;
  #begun = false;

  get hasBegun(): boolean {
    return this.#begun;
  }

  /** Watches the requests of a server. */
  register(server: Server): void {
    server.ext('onRequest', (request, h) => {
      if (request.method !== 'post') return h.continue;
      if (this.#begun) throw new ScenepressError('not_running', 'The service is stopping.');
      request.plugins.scenepressUnderWay = true;
      this.#underWay += 1;
      return h.continue;
    });
    server.events.on('response', ({ plugins }) => {
      if (!plugins.scenepressUnderWay) return;
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#last?.();
    });
  }

  /** Refuses new requests from now on; resolves when the last one before is answered, or after a while. */
  async begin(graceMs: number): Promise<void> {
    this.#begun = true;
    if (this.#underWay === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = resolve;
    const timer = setTimeout(resolve, graceMs);
    await promise;
    clearTimeout(timer);
  }
}
