import { ScenepressError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { type Clock, delay } from '../../time/clock.ts';
import type { Connections } from './connections.ts';
import { type PgClient, type PgQuery, queryOf } from './driver.ts';
import { RETRY_AFTER_MS } from './errors.ts';

/**
 * A row for each connection that writes, with the nonce of its last transaction. Updates change no index, and pages
 * have space for new versions of their rows.
 */
export const CONFIRMATIONS: string = `
CREATE TABLE confirmations (
  slot text PRIMARY KEY,
  nonce text NOT NULL,
  at timestamptz NOT NULL
) WITH (fillfactor = 20);
`;

const WRITE = `INSERT INTO confirmations VALUES (?, ?, now())
  ON CONFLICT (slot) DO UPDATE SET nonce = excluded.nonce, at = excluded.at`;

/** Its commit waits until the replica that commits wait for has it, and with it the transaction before. */
const CONFIRM = 'UPDATE confirmations SET at = now() WHERE slot = $1 AND nonce = $2';

const LOOK_AGAIN_MS = 50;

/** Rows of processes that have ended. */
const REMOVE_OLD = "DELETE FROM confirmations WHERE at < now() - interval '1 day'";

/** The trace of a committed transaction. */
export interface Confirmation {
  /** Unique among running transactions. */
  slot: string;
  nonce: string;
}

/**
 * Determines whether a transaction was committed. Its id is not enough: after a crash, the server reuses ids that were
 * not written to its log, so the id may belong to another transaction.
 */
export class Confirmations {
  readonly #random: Random;
  readonly #process: string;
  readonly #free: string[] = [];
  #slots = 0;

  constructor(random: Random) {
    this.#random = random;
    this.#process = random.bytes(8).toString('hex');
  }

  async removeOld(client: PgClient): Promise<void> {
    // A read-only role lacks the permission.
    await client.query(REMOVE_OLD).catch(() => {});
  }

  next(): Confirmation {
    const slot = this.#free.pop() ?? `${this.#process}-${this.#slots++}`;
    return { slot, nonce: this.#random.bytes(16).toString('hex') };
  }

  /** Called when the transaction has ended, and its confirmation is no longer needed. */
  release({ slot }: Confirmation): void {
    this.#free.push(slot);
  }

  /** The last statement of the transaction before its commit. */
  write({ slot, nonce }: Confirmation): PgQuery {
    return queryOf(WRITE, [slot, nonce]);
  }

  /**
   * The outcome of the transaction with this id; undefined while it is in progress. Committed, if no fail-over to a
   * synchronous replica can undo it.
   */
  async find(
    client: PgClient,
    id: string,
    { slot, nonce }: Confirmation,
    limit: { query_timeout: number },
  ): Promise<'committed' | 'aborted' | undefined> {
    // An id of its own, so that the next snapshot begins after it. Not greater: the server has lost the transaction.
    const own = { text: 'SELECT pg_current_xact_id() <= $1::xid8 AS lost', values: [id], ...limit };
    const { lost } = (await client.query(own)).rows[0] as { lost: boolean };
    // In one snapshot: a transaction that has ended in it has left its nonce, or never will.
    const text = `SELECT pg_visible_in_snapshot($1::xid8, pg_current_snapshot()) AS ended,
      EXISTS (SELECT FROM confirmations WHERE slot = $2 AND nonce = $3) AS committed`;
    const { rows } = await client.query({ text, values: [id, slot, nonce], ...limit });
    const { ended, committed } = rows[0] as { ended: boolean; committed: boolean };
    if (!committed) return lost || ended ? 'aborted' : undefined;
    await client.query({ text: CONFIRM, values: [slot, nonce], ...limit });
    return 'committed';
  }
}

/**
 * Finds out whether the transaction with this id was committed, whose commit failed. Error: `storage_failed` when the
 * database cannot be reached for `retryForMs`.
 */
export async function isCommitted(
  { id, confirmation }: { id: string; confirmation: Confirmation },
  { confirmations, connections }: { confirmations: Confirmations; connections: Connections },
  { clock, retryForMs, connectTimeoutMs }: { clock: Clock; retryForMs: number; connectTimeoutMs: number },
): Promise<boolean> {
  const untilMs = clock.uptimeMs() + retryForMs;
  let cause: unknown;
  do {
    try {
      const fate = await connections.alone((client) =>
        confirmations.find(client, id, confirmation, { query_timeout: connectTimeoutMs }),
      );
      if (fate) return fate === 'committed';
    } catch (error) {
      cause = error;
    }
    await delay(clock, LOOK_AGAIN_MS);
  } while (clock.uptimeMs() < untilMs);
  const message =
    'The connection to Postgres failed during a commit; it is unknown whether anything was changed.';
  throw new ScenepressError('storage_failed', message, { cause, retryAfterMs: RETRY_AFTER_MS });
}
