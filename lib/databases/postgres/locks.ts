import type { Connections } from './connections.ts';
import type { PgClient } from './driver.ts';

/** The SQL of the number of an advisory lock; `name` is the SQL of its name, which starts with the schema. */
export function lockOf(name: string): string {
  return `hashtextextended(${name}, 0)`;
}

/** A connection that has the lock of a task; undefined while another has it. */
export async function lockTask(connections: Connections, name: string): Promise<PgClient | undefined> {
  const client = await connections.single();
  let isLocked = false;
  try {
    const lock = { text: `SELECT pg_try_advisory_lock(${lockOf('$1')}) AS locked`, values: [name] };
    const { rows } = await client.query(lock);
    isLocked = (rows[0] as { locked: boolean }).locked;
    return isLocked ? client : undefined;
  } finally {
    if (!isLocked) await client.end();
  }
}

/** Unlocks a task and closes its connection; the server would notice the end of the connection a little later. */
export async function unlockTask(client: PgClient, name: string, timeoutMs: number): Promise<void> {
  const text = `SELECT pg_advisory_unlock(${lockOf('$1')})`;
  await client.query({ text, values: [name], query_timeout: timeoutMs }).catch(() => {});
  await client.end();
}

/** The process that currently holds each exclusive task. */
export const LEADERS = `
CREATE TABLE leaders (
  task text PRIMARY KEY,
  holder text NOT NULL,
  lapses_at timestamptz NOT NULL
);
`;

/** Returns a row for the process that leads. */
export const LEAD = `INSERT INTO leaders VALUES (?, ?, now() + ? * interval '1 millisecond')
  ON CONFLICT (task) DO UPDATE SET holder = excluded.holder, lapses_at = excluded.lapses_at
  WHERE leaders.holder = excluded.holder OR leaders.lapses_at <= now() RETURNING task`;
