import { LocalSignals } from '../cluster/local-signals.ts';
import { parseSignal } from '../cluster/parse-signal.ts';
import type { PostgresDatabase } from '../databases/postgres/postgres-database.ts';
import type { Signal, Signals } from '../storage/signals.ts';
import type { Clock } from '../time/clock.ts';
import { piecesOf, SignalPieces } from './signal-pieces.ts';

/** Minimum time between notifications: each takes a lock of the whole database at its commit. */
const PAUSE_MS = 50;

const CHANNEL = 'signals';

/** Signals between all processes that use the same schema, by `LISTEN` and `NOTIFY`, while their storage is started. */
export class PostgresSignals implements Signals {
  readonly #database: PostgresDatabase;
  readonly #clock: Clock;
  readonly #id: string;
  /** Subscribers in this process, which get its own signals immediately. */
  readonly #local = new LocalSignals();
  /** Messages to be sent, each once. */
  readonly #outbox = new Set<string>();
  readonly #pieces = new SignalPieces();
  #sent = 0;
  #isSending = false;

  /** `id`: identifies this process. */
  constructor(database: PostgresDatabase, { clock, id }: { clock: Clock; id: string }) {
    this.#database = database;
    this.#clock = clock;
    this.#id = id;
    database.listen(CHANNEL, {
      onMessage: (payload) => this.#receive(payload),
      onListening: () => {
        for (const kind of ['waiting', 'due'] as const) this.#local.publish({ kind });
      },
    });
  }

  publish(signal: Signal): void {
    this.#local.publish(signal);
    this.#sent += 1;
    for (const piece of piecesOf(signal, this.#sent)) this.#outbox.add(piece);
    if (!this.#isSending) void this.#send();
  }

  subscribe(listener: (signal: Signal) => void): () => void {
    return this.#local.subscribe(listener);
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    const payloads = [...this.#outbox].map((message) => `${this.#id} ${message}`);
    this.#outbox.clear();
    // Changes whose signals are lost are found by polling.
    await this.#database.notify(CHANNEL, payloads).catch(() => {});
    this.#clock.after(PAUSE_MS, () => {
      this.#isSending = false;
      if (this.#outbox.size > 0) void this.#send();
    });
  }

  #receive(payload: string): void {
    const [id = ''] = payload.split(' ', 1);
    if (id === this.#id) return;
    const json = this.#pieces.add(id, payload.slice(id.length + 1));
    const signal = json === undefined ? undefined : parseSignal(json);
    if (signal) this.#local.publish(signal);
  }
}
