import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of waiting requests per connection. Real clients pipeline fewer. */
const MOST_WAITING = 100;

/**
 * Handles the requests of a connection one after the other. Responses are sent in that order anyway; handled
 * concurrently, each of hundreds of pipelined requests would keep an artifact open until the client has read the
 * earlier responses.
 */
export class Turns {
  /** Waiting requests, by connections with a request in progress. */
  readonly #waiting = new WeakMap<Socket, (() => void)[]>();

  /** Calls `begin` when earlier requests of the connection are answered; never if the connection closes before. */
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
