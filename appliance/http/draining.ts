import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server } from '@hapi/hapi';
import { ScenepressError } from '../../lib/index.ts';

/**
 * The beginning of an orderly end: requests for renders that came before are answered, new ones refused. Everything
 * else goes on being answered, so that clients can follow the renders that still run. A client that has left waits for
 * no answer, and nobody for it.
 */
export class Draining {
  readonly #server: Server;
  /**
   * How many, not which: a set would keep them from being garbage. V8 makes its table anew now and then; the old one
   * points to the next, and once one has grown old, all that follow outlive the requests in them, and these with them.
   */
  #underWay = 0;
  #last: (() => void) | undefined;
  #begun = false;

  /** Watches the requests of a server: at its listener, because hapi's events and extensions cost each of them more. */
  constructor(server: Server) {
    this.#server = server;
    const answered = () => {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#last?.();
    };
    const watch = (request: IncomingMessage, response: ServerResponse) => {
      if (this.#begun || request.method !== 'POST') return;
      this.#underWay += 1;
      response.once('close', answered);
    };
    server.listener.prependListener('request', watch);
    server.listener.prependListener('checkContinue', watch);
  }

  get hasBegun(): boolean {
    return this.#begun;
  }

  /** Refuses new requests from now on; resolves when the last one before is answered, or after a while. */
  async begin(graceMs: number): Promise<void> {
    this.#begun = true;
    this.#server.ext('onRequest', (request, h) => {
      if (request.method === 'post') throw new ScenepressError('not_running', 'The service is stopping.');
      return h.continue;
    });
    if (this.#underWay === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = resolve;
    const timer = setTimeout(resolve, graceMs);
    await promise;
    clearTimeout(timer);
  }
}
