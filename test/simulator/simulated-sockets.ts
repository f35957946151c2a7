import { join } from 'node:path';
import { type Duplex, duplexPair } from 'node:stream';
import type { AcceptOptions } from '../../lib/render/start/processes.ts';

/** Sockets in folders, as those of the system: each accepts one connection, and the end of one side ends the other. */
export class SimulatedSockets {
  readonly #listening = new Map<string, AcceptOptions>();
  readonly #open = new Set<Duplex>();

  async accept(options: AcceptOptions): Promise<{ close(): void }> {
    const path = join(options.folder, options.name);
    if (this.#listening.has(path))
      throw Object.assign(new Error(`listen EADDRINUSE ${path}`), { code: 'EADDRINUSE' });
    this.#listening.set(path, options);
    return { close: () => void this.#listening.delete(path) };
  }

  /** The client's side of a new connection; undefined when nothing listens there. */
  connect(path: string): Duplex | undefined {
    const listening = this.#listening.get(path);
    if (!listening) return undefined;
    this.#listening.delete(path);
    const [client, accepted] = duplexPair({ allowHalfOpen: false });
    this.#open.add(accepted);
    accepted.once('close', () => {
      this.#open.delete(accepted);
      client.destroy();
    });
    client.on('error', () => {}); // What it writes to a closed connection is lost.
    listening.onConnection(accepted);
    return client;
  }

  /** How many sockets and connections are open. */
  get count(): number {
    return this.#listening.size + this.#open.size;
  }
}
