import { ScenepressError } from '../../base/errors.ts';
import { type Clock, delay } from '../../time/clock.ts';
import type { PgClient } from './driver.ts';
import { isBusy } from './errors.ts';

/** One row while replaced or deleted data is to be removed from the files. */
export const PURGES = `CREATE TABLE purges (
  purge_id bigint PRIMARY KEY CHECK (purge_id = 1),
  requests bigint NOT NULL
);`;

export const REQUEST_PURGE = `INSERT INTO purges VALUES (1, 1)
  ON CONFLICT (purge_id) DO UPDATE SET requests = purges.requests + 1`;

/** The running transactions in this database, with the server process of each. */
const RUNNING = `SELECT virtualxid AS id, pid FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'virtualxid' AND mode = 'ExclusiveLock' AND datname = current_database()
  AND pid <> pg_backend_pid()`;
/** How long a purge waits for transactions that began before it, and how often it looks. */
const OLDER_FOR_MS = 10_000;
const LOOK_MS = 200;

/** Everybody who comes after the request for the lock waits, too. */
const LOCK_MS = 1_000;
const MOST_TRIES = 5;
const PAUSE_MS = 5_000;

/**
 * Rewrites tables if that was requested. No transaction can use a table while it is rewritten. Error: `storage_failed`
 * when that is not possible now.
 */
export async function carryOutPurge(client: PgClient, tables: string[], clock: Clock): Promise<void> {
  const [purge] = (await client.query('SELECT requests FROM purges')).rows as { requests: number }[];
  if (!purge) return;
  await olderTransactionsEnded(client, clock);
  await client.query(`SET lock_timeout TO ${LOCK_MS}`);
  for (const table of tables) await rewrite(client, table, clock);
  // Unless it was requested again.
  await client.query({ text: 'DELETE FROM purges WHERE requests = $1', values: [purge.requests] });
}

/** A rewritten table keeps replaced rows that a transaction may still see. */
async function olderTransactionsEnded(client: PgClient, clock: Clock): Promise<void> {
  const running = async () => (await client.query(RUNNING)).rows as { id: string; pid: number }[];
  const untilMs = clock.uptimeMs() + OLDER_FOR_MS;
  let older = await running();
  while (older.length > 0) {
    if (clock.uptimeMs() >= untilMs) {
      const processes = older.map(({ pid }) => pid).join(', ');
      const message = `Transactions that began before have not ended (processes of Postgres: ${processes}).`;
      throw new ScenepressError('storage_failed', message);
    }
    await delay(clock, LOOK_MS);
    const ids = new Set((await running()).map(({ id }) => id));
    older = older.filter(({ id }) => ids.has(id));
  }
}

async function rewrite(client: PgClient, table: string, clock: Clock): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query(`VACUUM (FULL) ${table}`);
      return;
    } catch (error) {
      if (!isBusy(error) || tries === MOST_TRIES) throw error;
      await delay(clock, PAUSE_MS);
    }
  }
}
