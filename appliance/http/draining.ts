import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from '@hapi/hapi';
import { ScenepressError, SERVICE_STOPPING } from '../../lib/internal.ts';

/**
 * First phase of a graceful stop: answers pending render requests and rejects new ones. All other requests are still
 * answered, so clients can follow running renders. Requests of disconnected clients don't count as pending.
 */
export class Draining {
  readonly #server: Server;
  /**
   * A count, not a Set: V8 replaces a Set's hash table as it changes, and each old table points to its successor.
   * Once one is in the old generation, it keeps the later ones, and the finished requests in them, reachable.
   */
  #pending = 0;
  #onIdle: (() => void) | undefined;
  readonly #begun = new AbortController();

  /** Watches the requests of a server at its listener, which is cheaper than hapi's events and extensions. */
  constructor(server: Server) {
    this.#server = server;
    const answered = () => {
      this.#pending -= 1;
      if (this.#pending === 0) this.#onIdle?.();
    };
    const watch = (request: IncomingMessage, response: ServerResponse) => {
      if (this.hasBegun || request.method !== 'POST') return;
      this.#pending += 1;
      response.once('close', answered);
    };
    server.listener.prependListener('request', watch);
    server.listener.prependListener('checkContinue', watch);
  }

  /** Aborted when it begins. */
  get signal(): AbortSignal {
    return this.#begun.signal;
  }

  get hasBegun(): boolean {
    return this.signal.aborted;
  }

  /** Rejects new render requests; resolves when the pending ones are answered, or after `graceMs`. */
  async begin(graceMs: number): Promise<void> {
    this.#begun.abort();
    this.#server.ext('onRequest', (request, h) => {
      if (request.method === 'post') throw new ScenepressError('not_running', SERVICE_STOPPING.message);
      return h.continue;
    });
    if (this.#pending === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    const timer = setTimeout(resolve, graceMs);
    await promise;
    clearTimeout(timer);
  }
}
