import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StatementSync } from 'node:sqlite';
import { isScenepressError, ScenepressError } from '../../base/errors.ts';
import { backup, DatabaseSync } from '../../base/node-sqlite.ts';
import { identityOf, isInPlace, isOutOfSpace } from '../../files/disk.ts';
import type { SqlValue } from '../../storage/sql.ts';

/** Primary result codes of SQLite, without the extended bits. */
const CODES = { error: 1, readOnly: 8, ioError: 10, damaged: 11, full: 13, cantOpen: 14, noDatabase: 26 };
const FLUSH_FAILED = 10 | (4 << 8);
/** SQLITE_IOERR_SHMSIZE: the shared-memory file could not grow, nearly always because the disk is full. */
const SHARED_MEMORY_FULL = 4874;
const BUSY_MS = 10_000;
/** Pages that are copied at a time, in the thread pool. */
const COPIED_PAGES = 1000;

/** A connection to a database file, with its prepared statements. All calls except {@link copyTo} are synchronous. */
export class Connection {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(path: string, database: DatabaseSync) {
    this.path = path;
    this.#database = database;
  }

  /** Opens the file; creates it when missing. `defensive: false` allows writes to `sqlite_schema`. */
  static open(path: string, options: { readOnly?: boolean; defensive?: boolean } = {}): Connection {
    return new Connection(path, new DatabaseSync(path, { timeout: BUSY_MS, ...options }));
  }

  /** Whether a transaction is open; false after SQLite rolled it back itself. */
  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  all<Row extends object>(text: string, values: SqlValue[]): Row[] {
    return this.#call('all', text, values) as Row[];
  }

  /** Reads row by row; other statements may run meanwhile. Errors are those of SQLite. */
  iterate<Row extends object>(text: string): Iterable<Row> {
    return this.#statement(text).iterate() as Iterable<Row>;
  }

  get<Row extends object>(text: string, values: SqlValue[]): Row | undefined {
    return this.#call('get', text, values) as Row | undefined;
  }

  /** Returns the number of changed rows. */
  run(text: string, values: SqlValue[] = []): number {
    return Number(this.#call('run', text, values).changes);
  }

  /** Returns the key of the inserted row. */
  insert(text: string, values: SqlValue[]): number {
    return Number(this.#call('run', text, values).lastInsertRowid);
  }

  /** Runs several statements without results. */
  exec(text: string): void {
    try {
      this.#database.exec(text);
    } catch (error) {
      throw explained(error, this.path);
    }
  }

  /** Copies a snapshot to a new file, and flushes it. Meanwhile other connections may write, and this one is in use. */
  async copyTo(path: string): Promise<void> {
    this.exec('BEGIN');
    this.get('PRAGMA user_version', []); // The snapshot is taken by the first read.
    await backup(this.#database, path, { rate: COPIED_PAGES }).catch((error: unknown) => {
      throw explained(error, path);
    });
    this.exec('ROLLBACK');
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #statement(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#database.prepare(text);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  #call<Method extends 'all' | 'get' | 'run'>(
    method: Method,
    text: string,
    values: SqlValue[],
  ): ReturnType<StatementSync[Method]> {
    try {
      return this.#statement(text)[method](...values) as ReturnType<StatementSync[Method]>;
    } catch (error) {
      throw explained(error, this.path);
    }
  }
}

/**
 * Converts I/O and corruption errors to {@link ScenepressError}; returns others, such as constraint errors,
 * unchanged.
 */
export function explained(error: unknown, path: string): unknown {
  const { errcode, code, message } = error as { errcode?: number; code?: string; message: string };
  if (code === 'ERR_OUT_OF_RANGE') return damaged(path, message, error); // No stored integer exceeds 2^53.
  if (errcode === undefined) return error;
  const cause = { cause: error };
  switch (errcode === SHARED_MEMORY_FULL ? CODES.full : errcode & 0xff) {
    case CODES.full:
      return new ScenepressError(
        'storage_full',
        `Nothing was changed: ${path} can't grow (${message}).`,
        cause,
      );
    case CODES.cantOpen:
      if (!lacksFiles(path)) return error;
      return new ScenepressError(
        'storage_full',
        `Nothing was changed: no file can be created beside ${path}, because its file system has as many as it can hold.`,
        cause,
      );
    case CODES.damaged:
    case CODES.noDatabase:
      return damaged(path, message, error);
    case CODES.ioError:
      return new ScenepressError(
        'storage_failed',
        `Nothing was changed: reading or writing ${path} failed (${message}).`,
        cause,
      );
    default:
      return error;
  }
}

/** Whether a file system has no free inodes. SQLite only says that it cannot create a file. */
function lacksFiles(path: string): boolean {
  try {
    const { files, ffree } = statfsSync(dirname(path));
    return files > 0 && ffree === 0;
  } catch {
    return false;
  }
}

/** Whether an error converted by {@link explained} was a failed flush. */
export function isFailedFlush(error: unknown): boolean {
  const { cause } = error as { cause?: { errcode?: number } };
  return cause?.errcode === FLUSH_FAILED;
}

/** Whether an error means that the disk is full. */
export function isFullDisk(error: unknown): boolean {
  return isScenepressError(error, 'storage_full') || isOutOfSpace(error);
}

/**
 * Converts errors while opening a database: a generic or read-only error of valid statements means a damaged header.
 */
export function explainedAtOpening(error: unknown, path: string): unknown {
  const { errcode, message } = error as { errcode?: number; message: string };
  return errcode === CODES.error || errcode === CODES.readOnly ? damaged(path, message, error) : error;
}

export function damaged(path: string, why: string, cause: unknown = new Error(why)): ScenepressError {
  return new ScenepressError(
    'storage_damaged',
    `The database ${path} is damaged (${why}). Restore a backup, or run \`scenepress recover\`.`,
    { cause },
  );
}

/**
 * Opens a connection for slow statements: checkpoints, copies and full scans. `identity`: of the file, instead of which
 * there may be another one meanwhile.
 */
export function openInBackground(path: string, identity: string = identityOf(statSync(path))): Connection {
  if (!isInPlace({ path, identity })) throw new Error(`${path} was moved or replaced`);
  const connection = Connection.open(path);
  connection.exec('PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-8192');
  return connection;
}
