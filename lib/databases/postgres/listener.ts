import { SingleFlight } from '../../async/single-flight.ts';
import { Backoff } from '../../time/backoff.ts';
import { type Clock, delay } from '../../time/clock.ts';
import type { Connections } from './connections.ts';
import type { PgClient } from './driver.ts';

export interface ListenerOptions {
  connections: Connections;
  clock: Clock;
  channel: string;
  /** How long the server may take to answer that it listens. */
  timeoutMs: number;
  onMessage: (payload: string) => void;
  /** Called when it listens: messages sent before were missed. */
  onListening: () => void;
}

/** Receives the notifications of a channel, on a connection that is opened again when it is lost. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #backoff = new Backoff(100, 10_000);
  #stopping = new AbortController();
  readonly #running = new SingleFlight();

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#running.isInProgress) return;
    this.#stopping = new AbortController();
    void this.#running.run(() => this.#run(this.#stopping.signal));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running.ended;
  }

  async #run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      try {
        const client = await this.#options.connections.single();
        await this.#listen(client, stopping).finally(() => void client.end());
      } catch {} // Polls make up for missed messages; the next connection is tried after a delay.
      await delay(this.#options.clock, this.#backoff.next(), stopping);
    }
  }

  /** Resolves when the connection is lost, or on `stopping`. */
  async #listen(client: PgClient, stopping: AbortSignal): Promise<void> {
    const { channel, timeoutMs, onMessage, onListening } = this.#options;
    const ended = Promise.withResolvers<void>();
    client.once('end', ended.resolve);
    client.on('notification', ({ payload = '' }) => onMessage(payload));
    stopping.addEventListener('abort', () => ended.resolve(), { once: true });
    if (stopping.aborted) return;
    await client.query({ text: `LISTEN ${channel}`, query_timeout: timeoutMs });
    this.#backoff.reset();
    onListening();
    await ended.promise;
  }
}
