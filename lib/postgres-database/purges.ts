import { type Clock, delay } from '../clock.ts';
import type { PgClient } from './driver.ts';
import { isBusy } from './errors.ts';

/** One row while replaced or deleted data is to be removed from the files. */
export const PURGES = `CREATE TABLE purges (
  purge_id bigint PRIMARY KEY CHECK (purge_id = 1),
  requests bigint NOT NULL
);`;

export const REQUEST_PURGE = `INSERT INTO purges VALUES (1, 1)
  ON CONFLICT (purge_id) DO UPDATE SET requests = purges.requests + 1`;

/** Everybody who comes after the request for the lock waits, too. */
const LOCK_MS = 1_000;
const MOST_TRIES = 5;
const PAUSE_MS = 5_000;

/**
 * Rewrites tables if that was requested, except for rows that transactions still see which began before. No transaction
 * can use a table while it is rewritten.
 */
export async function carryOutPurge(client: PgClient, tables: string[], clock: Clock): Promise<void> {
  const [purge] = (await client.query('SELECT requests FROM purges')).rows as { requests: number }[];
  if (!purge) return;
  await client.query(`SET lock_timeout TO ${LOCK_MS}`);
  for (const table of tables) await rewrite(client, table, clock);
  // Unless it was requested again.
  await client.query({ text: 'DELETE FROM purges WHERE requests = $1', values: [purge.requests] });
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
