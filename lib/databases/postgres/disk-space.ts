import type { Random } from '../../base/random.ts';
import type { Clock, Timer } from '../../time/clock.ts';
import type { Connections } from './connections.ts';
import { queryOf } from './driver.ts';
import { isDiskFull } from './errors.ts';

const TRIAL_MS = 5_000;
/** As much as a small job. It is random: the server compresses what it stores. */
const TRIAL_BYTES = 128 * 1024;
const SLOT = 'trial of the disk';

/**
 * Whether the disk of the server is full. Small writes succeed on a full disk, because tables have free space within
 * their files; so after one that failed, a larger one is tried, and rolled back, until it succeeds.
 */
export class DiskSpace {
  readonly #connections: Connections;
  readonly #clock: Clock;
  readonly #random: Random;
  #trial: Timer | undefined;
  #trying: Promise<void> | undefined;

  constructor(connections: Connections, { clock, random }: { clock: Clock; random: Random }) {
    this.#connections = connections;
    this.#clock = clock;
    this.#random = random;
  }

  get isFull(): boolean {
    return this.#trial !== undefined;
  }

  /** Call it for each error of a transaction. */
  note(error: unknown): void {
    if (!isDiskFull(error)) return;
    this.#trial ??= this.#clock.every(TRIAL_MS, () => {
      this.#trying ??= this.#try().finally(() => {
        this.#trying = undefined;
      });
    });
  }

  /** Ends the trials, and waits for the last one. */
  async stop(): Promise<void> {
    this.#end();
    await this.#trying;
  }

  #end(): void {
    this.#trial?.cancel();
    this.#trial = undefined;
  }

  async #try(): Promise<void> {
    const text = this.#random.bytes(TRIAL_BYTES).toString('hex');
    const insert = queryOf('INSERT INTO confirmations VALUES (?, ?, now())', [SLOT, text]);
    const trial = this.#connections.alone(async (client) => {
      await client.query('BEGIN');
      await client.query(insert);
      await client.query('ROLLBACK');
    });
    await trial.then(
      () => this.#end(),
      () => {}, // It is tried again.
    );
  }
}
