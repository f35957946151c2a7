import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { ScenepressError } from '../../errors.ts';
import type { SqlValue } from '../sql.ts';

/** What SQLite answers with, without the details in its upper bits. */
const CODES = { error: 1, readOnly: 8, ioError: 10, damaged: 11, full: 13, noDatabase: 26 };
const FLUSH_FAILED = 10 | (4 << 8);
/** The file that connections share could not grow. Nearly always the disk is full; SQLite calls it an I/O error. */
const NO_ROOM_TO_SHARE = 4874;
const BUSY_MS = 10_000;

/** A connection to a database file, with its prepared statements. Every call holds the thread until it is done. */
export class Connection {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /** `defensive: false`: its statements may change the schema's own table. */
  constructor(path: string, options: { readOnly?: boolean; defensive?: boolean } = {}) {
    this.path = path;
    this.#database = new DatabaseSync(path, { timeout: BUSY_MS, ...options });
  }

  /** A transaction is open: one that SQLite had to undo is not. */
  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  all<Row extends object>(text: string, values: SqlValue[]): Row[] {
    return this.#explained(() => this.#statement(text).all(...values) as Row[]);
  }

  get<Row extends object>(text: string, values: SqlValue[]): Row | undefined {
    return this.#explained(() => this.#statement(text).get(...values) as Row | undefined);
  }

  /** The number of rows that changed. */
  run(text: string, values: SqlValue[] = []): number {
    return this.#explained(() => Number(this.#statement(text).run(...values).changes));
  }

  /** Several statements that give nothing. */
  exec(text: string): void {
    this.#explained(() => this.#database.exec(text));
  }

  /** Writes the database as it is now into a file that doesn't exist yet. */
  copyTo(path: string): void {
    try {
      this.#statement('VACUUM INTO ?').run(path);
    } catch (error) {
      // Of the two files it is the copy that grows.
      throw explained(error, isFull(error) ? path : this.path);
    }
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

  #explained<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw explained(error, this.path);
    }
  }
}

function isFull(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === CODES.full;
}

/** What a fault of the disk or the file means; other errors, as of a constraint, stay as they are. */
export function explained(error: unknown, path: string): unknown {
  const { errcode, code, message } = error as { errcode?: number; code?: string; message: string };
  if (code === 'ERR_OUT_OF_RANGE') return damaged(path, message, error); // No number of ours is that large.
  if (errcode === undefined) return error;
  const cause = { cause: error };
  switch (errcode === NO_ROOM_TO_SHARE ? CODES.full : errcode & 0xff) {
    case CODES.full:
      return new ScenepressError(
        'storage_full',
        `Nothing was changed: ${path} can’t grow (${message}).`,
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

/** Of an error that was {@link explained}. */
export function isFailedFlush(error: unknown): boolean {
  const { cause } = error as { cause?: { errcode?: number } };
  return cause?.errcode === FLUSH_FAILED;
}

/** What it means that a file can't be opened by statements that are right: its header names a format that isn't ours. */
export function explainedAtOpening(error: unknown, path: string): unknown {
  const { errcode, message } = error as { errcode?: number; message: string };
  return errcode === CODES.error || errcode === CODES.readOnly ? damaged(path, message, error) : error;
}

export function damaged(path: string, why: string, cause?: unknown): ScenepressError {
  return new ScenepressError(
    'storage_damaged',
    `The database ${path} is damaged (${why}). Restore a backup, or run \`scenepress recover\`.`,
    { cause },
  );
}
