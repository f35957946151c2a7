import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait on one connection. Clients that pipeline at all send fewer ahead. */
const MOST_WAITING = 100;

/**
 * Begins the requests of a connection one after the other. Their answers leave in that order anyway; begun together,
 * each of hundreds of pipelined requests would hold an open artifact until the client has read those before it.
 */
export class Turns {
  /** What waits, by connections on which a request is under way. */
  readonly #waiting = new WeakMap<Socket, (() => void)[]>();

  /** Calls `begin` when the requests that came earlier on the connection are answered; never if it is closed before. */
  await({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
    if (socket.destroyed) return;
    const turn = () => {
      response.once('close', () => this.#next(socket));
      begin();
    };
    const waiting = this.#waiting.get(socket);
    if (!waiting) {
      this.#waiting.set(socket, []);
      turn();
    } else if (waiting.length < MOST_WAITING) waiting.push(turn);
    else socket.destroy();
  }

  #next(socket: Socket): void {
    const turn = socket.destroyed ? undefined : this.#waiting.get(socket)?.shift();
    if (turn) turn();
    else this.#waiting.delete(socket);
  }
}
