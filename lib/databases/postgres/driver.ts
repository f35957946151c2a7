import type { Writable } from 'node:stream';
import { ScenepressError } from '../../base/errors.ts';
import { installCommand } from '../../base/optional-package.ts';
import type { SqlValue } from '../../storage/sql.ts';

/** The parts of `pg` in use, which is an optional peer dependency: public types must not mention its own. */
export interface PgDriver {
  /** `config.Client`: the class of its connections. */
  Pool: new (
    config: object,
  ) => PgPool;
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
  /** The command that the server has carried out. */
  command: string;
  rowCount: number | null;
  rows: object[];
}

export interface PgClient {
  connect(): Promise<unknown>;
  query(query: PgQuery | string): Promise<PgResult>;
  readonly connection: { readonly stream: Pick<Writable, 'cork' | 'destroy' | 'uncork'> };
  /** Resolves when the server has closed the connection. */
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'notification', listener: (message: { channel: string; payload?: string }) => void): unknown;
  once(event: 'end', listener: () => void): unknown;
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
      `The driver of Postgres is not installed. Run: ${installCommand('pg')}`,
      { cause },
    );
  }
}

/** Statements whose plans are kept by each connection. Beyond that number they are planned at each call. */
const MOST_PREPARED = 500;

/** By their text. */
const known = new Map<string, { name?: string; text: string }>();

/** Converts a statement with `?` placeholders into one of Postgres. */
export function queryOf(text: string, values: SqlValue[]): PgQuery {
  const statement = known.get(text) ?? remembered(text);
  return { ...statement, values };
}

function remembered(text: string): { name?: string; text: string } {
  let count = 0;
  const numbered = text.replaceAll('?', () => `$${++count}`);
  if (known.size >= MOST_PREPARED) return { text: numbered };
  const statement = { name: `s${known.size}`, text: numbered };
  known.set(text, statement);
  return statement;
}
