import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { ScenepressError } from '../../errors.ts';
import type { SqlValue } from './sql.ts';

/**
 * How a field is kept in its column.
 *
 * | kind | field | column |
 * |---|---|---|
 * | `plain` | text or number, or null | the same |
 * | `whole` | a time or another whole number, or null | the same, without a fraction |
 * | `json` | any JSON value; a text of people's, which may hold any character; or null | its JSON |
 * | `optional` | as `plain`, but absent instead of null | the same |
 */
type Kind = 'plain' | 'whole' | 'json' | 'optional';

interface Column {
  name: string;
  field: string;
  kind: Kind;
}

/** The names of the columns, by field; `camelCase` becomes `snake_case`. */
function columnsOf(fields: Record<string, Kind>): Column[] {
  return Object.entries(fields).map(([field, kind]) => ({
    name: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    field,
    kind,
  }));
}

/** Makes rows of records and back. The last column of a row is a checksum over the others. */
export class RowFormat<Rec extends object> {
  readonly table: string;
  readonly #columns: Column[];
  readonly #derived: { name: string; derive: (record: Rec) => SqlValue }[];
  /** The columns of the primary key. */
  readonly key: string[];
  /** `job_id, owner, …`, with the checksum and what is derived. */
  readonly names: string;
  readonly insert: string;
  /** Sets all columns of the row whose key is the last values. */
  readonly update: string;

  /**
   * `fields`: in the order of the columns; the first `keyColumns` (default 1) are the primary key. `derived`: columns that
   * are written with a row for constraints and sums.
   */
  constructor(
    table: string,
    fields: Record<keyof Rec & string, Kind>,
    {
      keyColumns = 1,
      derived = {},
    }: { keyColumns?: number; derived?: Record<string, (record: Rec) => SqlValue> } = {},
  ) {
    this.table = table;
    this.#columns = columnsOf(fields);
    this.#derived = Object.entries(derived).map(([name, derive]) => ({ name, derive }));
    const names = [...this.#columns.map(({ name }) => name), 'checksum', ...Object.keys(derived)];
    this.key = names.slice(0, keyColumns);
    this.names = names.join(', ');
    this.insert = `INSERT INTO ${table} (${this.names}) VALUES (${names.map(() => '?').join(', ')})`;
    this.update = `UPDATE ${table} SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE ${this.key.map((name) => `${name} = ?`).join(' AND ')}`;
  }

  /** The column that keeps a field. */
  columnOf(field: keyof Rec & string): string {
    const column = this.#columns.find((column) => column.field === field);
    assert(column, 'a field of the table');
    return column.name;
  }

  /** The values that {@link insert} and {@link update} take. */
  row(record: Rec): SqlValue[] {
    const values = this.#columns.map(({ field, kind }) =>
      columnValue(kind, (record as Record<string, unknown>)[field]),
    );
    values.push(checksumOf(values), ...this.#derived.map(({ derive }) => derive(record)));
    return values;
  }

  /** The record of a row that was read. Error: `storage_damaged` when it isn't as it was written. */
  record(row: object): Rec {
    const record: Record<string, unknown> = {};
    const values: SqlValue[] = [];
    const cells = row as Record<string, SqlValue>;
    for (const { name, field, kind } of this.#columns) {
      const value = cells[name] ?? null;
      values.push(value);
      if (kind === 'json') record[field] = value === null ? null : parsed(value as string);
      else if (kind !== 'optional' || value !== null) record[field] = value;
    }
    const isAsWritten =
      checksumOf(values) === cells['checksum'] &&
      this.#derived.every(({ name, derive }) => derive(record as Rec) === cells[name]);
    if (!isAsWritten) throw this.#damaged(this.key.map((name) => cells[name]).join(', '));
    return record as Rec;
  }

  #damaged(key: string): ScenepressError {
    return new ScenepressError(
      'storage_damaged',
      `The row ${key} of the table ${this.table} is damaged. Restore a backup, or run \`scenepress recover\`.`,
    );
  }
}

function columnValue(kind: Kind, value: unknown): SqlValue {
  if (value === undefined || value === null) return null;
  if (kind === 'json') return JSON.stringify(value);
  if (kind === 'whole') return Math.floor(value as number);
  assert(typeof value !== 'string' || value.isWellFormed(), 'a text of whole characters');
  return value as SqlValue;
}

/** Of a row that turns out to be damaged, the JSON may be none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function checksumOf(values: SqlValue[]): number {
  return crc32(JSON.stringify(values));
}
