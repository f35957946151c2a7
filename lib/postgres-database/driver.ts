import type { Writable } from 'node:stream';
import { ScenepressError } from '../errors.ts';

/** The parts of `pg` in use, which is an optional peer dependency: public types must not mention its own. */
export interface PgDriver {
  Pool: new (config: object) => PgPool;
  Client: new (config: object) => PgClient;
  types: PgTypes;
}

export interface PgTypes {
  /** The function that reads values of a type, by the type's number. */
  getTypeParser(type: number, format?: string): (text: string) => unknown;
}

export interface PgQuery {
  text: string;
  values?: unknown[];
  /** Prepares the statement under this name, once per connection. */
  name?: string;
  /** Rejects when there is no answer after this time, in milliseconds. */
  query_timeout?: number;
}

export interface PgResult {
  command: string;
  rowCount: number | null;
  rows: object[];
}

export interface PgClient {
  connect(): Promise<unknown>;
  query(query: PgQuery | string): Promise<PgResult>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: { channel: string; payload?: string }) => void): unknown;
  /** Not part of the driver's documented interface, so it may be absent. */
  readonly connection?: { readonly stream?: Partial<Pick<Writable, 'cork' | 'uncork'>> };
}

/** Connections whose statements are held back until the end of the tick. */
const held = new WeakSet<PgClient>();

/**
 * Sends a statement together with the others of the same tick. The driver would write each separately, which wakes the
 * server each time: half of the CPU time of a transaction of a dozen statements.
 */
export function sendTogether(client: PgClient, query: PgQuery | string): Promise<PgResult> {
  const stream = client.connection?.stream;
  if (!held.has(client) && stream?.cork && stream.uncork) {
    held.add(client);
    stream.cork();
    process.nextTick(() => {
      held.delete(client);
      stream.uncork?.();
    });
  }
  return client.query(query);
}

export interface PooledClient extends PgClient {
  /** Returns the connection to the pool, or closes it. */
  release(close?: boolean): void;
}

export interface PgPool {
  /** Connections that are open. */
  readonly totalCount: number;
  /** Of these, connections that are not in use. */
  readonly idleCount: number;
  /** Calls of `connect` that wait. */
  readonly waitingCount: number;
  connect(): Promise<PooledClient>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Loads the driver. Error: `storage_failed` when it is not installed. */
export async function loadDriver(): Promise<PgDriver> {
  try {
    const { default: pg } = await import('pg');
    return pg as PgDriver;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new ScenepressError(
      'storage_failed',
      'The driver of Postgres is not installed: run `npm install pg` in your project.',
      { cause },
    );
  }
}
