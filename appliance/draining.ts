import type { Request, Server } from '@hapi/hapi';
import { ScenepressError } from '../lib/index.ts';

/**
 * The beginning of an orderly end: requests for renders that came before are answered, new ones refused. Everything
 * else goes on being answered, so that clients can follow the renders that still run.
 */
export class Draining {
  readonly #underWay = new Set<Request>();
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
      this.#underWay.add(request);
      return h.continue;
    });
    server.events.on('response', (request) => {
      this.#underWay.delete(request);
      if (this.#underWay.size === 0) this.#last?.();
    });
  }

  /** Refuses new requests from now on; resolves when the last one before is answered, or after a while. */
  async begin(graceMs: number): Promise<void> {
    this.#begun = true;
    if (this.#underWay.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = resolve;
    const timer = setTimeout(resolve, graceMs);
    await promise;
    clearTimeout(timer);
  }
}
