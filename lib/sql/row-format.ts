import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import { ScenepressError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { decrypt, seal } from '../keys/sealing.ts';
import type { SqlValue } from '../storage/sql.ts';
import type { TextKey } from './text-keys.ts';

/**
 * How a field is stored in its column.
 *
 * | kind | field | column |
 * |---|---|---|
 * | `text` | well-formed text, or null | the same |
 * | `number` | a finite number, or null | the same |
 * | `whole` | a time or another integer, or null | the same, rounded down |
 * | `json` | any JSON value; user text with arbitrary characters; or null | its JSON |
 * | `optionalText` | as `text`, but absent instead of null | the same |
 * | `optionalNumber` | as `number`, but absent instead of null | the same |
 * | `sealed` | user content: any JSON value, or null | `texts`: together with the others, encrypted ({@link TextKey}) |
 */
type Kind = 'text' | 'number' | 'whole' | 'json' | 'optionalText' | 'optionalNumber' | 'sealed';

const OPTIONAL: readonly Kind[] = ['optionalText', 'optionalNumber'];

interface Column {
  name: string;
  field: string;
  kind: Kind;
  isOptional: boolean;
  /** What NULL stands for in a column of a later migration; else undefined. */
  before: unknown;
}

type Cells = Record<string, SqlValue>;

/** The names of the columns, by field; `camelCase` becomes `snake_case`. */
function columnsOf(fields: Record<string, Kind>, added: Record<string, unknown>): Column[] {
  return Object.entries(fields).map(([field, kind]) => ({
    name: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    field,
    kind,
    isOptional: OPTIONAL.includes(kind),
    before: added[field],
  }));
}

/**
 * Converts records to rows and back. A row has a checksum over its other columns; texts are authenticated separately.
 */
export class RowFormat<Rec extends object> {
  readonly table: string;
  readonly #columns: Column[];
  readonly #sealed: Column[];
  /**
   * Copied for each record: of an object that gets so many fields one by one, V8 makes a dictionary, which is more than
   * twice as large, and slower to make and to read.
   */
  readonly #blank: Record<string, unknown>;
  /** The number of columns that all rows have in their checksum. */
  readonly #firstColumns: number;
  readonly #derived: { name: string; derive: (record: Rec) => SqlValue }[];
  /** The columns of an INSERT. */
  readonly #written: string[];
  /** The columns of the primary key. */
  readonly key: string[];
  /** The column list that {@link record} needs. */
  readonly names: string;
  /** SELECT of a row by its key. */
  readonly byKey: string;
  /** INSERT; takes the values of {@link row}, or of {@link rowWithTexts} when fields are sealed. */
  readonly insert: string;
  /** UPDATE of a row except its texts; takes the values of {@link changes}. */
  readonly update: string;
  /** UPDATE of a row with its texts. */
  readonly updateWithTexts: string;

  /**
   * `fields`: in column order; the first `keyColumns` (default 1) are the primary key. `derived`: additional columns,
   * computed for constraints and sums. `added`: the last fields, if a later migration added their columns, with the
   * values that rows from before have; these are stored as NULL. The checksum leaves out NULLs at the end of these
   * columns, so that it stays that of rows from before. Of an optional field: undefined.
   */
  constructor(
    table: string,
    fields: Record<keyof Rec & string, Kind>,
    {
      keyColumns = 1,
      derived = {},
      added = {},
    }: {
      keyColumns?: number;
      derived?: Record<string, (record: Rec) => SqlValue>;
      added?: { [Field in keyof Rec]?: Rec[Field] | undefined };
    } = {},
  ) {
    const columns = columnsOf(fields, added);
    this.table = table;
    this.#columns = columns.filter(({ kind }) => kind !== 'sealed');
    this.#sealed = columns.filter(({ kind }) => kind === 'sealed');
    this.#firstColumns = this.#columns.length - Object.keys(added).length;
    assert(
      this.#columns.slice(this.#firstColumns).every(({ field }) => field in added),
      'the last fields',
    );
    const present = columns.filter(({ isOptional }) => !isOptional);
    this.#blank = Object.fromEntries(present.map(({ field }) => [field, null]));
    this.#derived = Object.entries(derived).map(([name, derive]) => ({ name, derive }));
    const names = [...this.#columns.map(({ name }) => name), 'checksum', ...Object.keys(derived)];
    this.#written = this.#sealed.length > 0 ? [...names, 'text_key_id', 'texts'] : names;
    this.key = names.slice(0, keyColumns);
    const where = this.key.map((name) => `${name} = ?`).join(' AND ');
    this.names = [...this.#written, ...(this.#sealed.length > 0 ? [this.textKey] : [])].join(', ');
    this.byKey = `SELECT ${this.names} FROM ${table} WHERE ${where}`;
    this.insert = `INSERT INTO ${table} (${this.#written.join(', ')}) VALUES (${this.#written.map(() => '?').join(', ')})`;
    // An assignment to a column of the key, even of the same value, makes SQLite move the row and check references.
    const sets = names.slice(keyColumns).map((name) => `${name} = ?`);
    const update = `UPDATE ${table} SET ${sets.join(', ')}`;
    this.update = `${update} WHERE ${where}`;
    this.updateWithTexts = `${update}, texts = ? WHERE ${where}`;
  }

  /** Selects the key of a row's texts. */
  get textKey(): string {
    return `(SELECT content FROM text_keys WHERE text_keys.text_key_id = ${this.table}.text_key_id) AS text_key`;
  }

  get hasTexts(): boolean {
    return this.#sealed.length > 0;
  }

  /** The column that keeps a field. */
  columnOf(field: keyof Rec & string): string {
    const column = this.#columns.find((column) => column.field === field);
    assert(column, 'a field with a column');
    return column.name;
  }

  /** The values for {@link insert}. */
  row(record: Rec): SqlValue[] {
    const values: SqlValue[] = [];
    for (const column of this.#columns)
      values.push(columnValue(column, (record as Record<string, unknown>)[column.field]));
    values.push(this.#checksumOf(values));
    for (const { derive } of this.#derived) values.push(derive(record));
    return values;
  }

  /** The values for {@link update} or, with sealed texts, for {@link updateWithTexts}. */
  changes(record: Rec, ...sealedTexts: [Uint8Array] | []): SqlValue[] {
    const row = this.row(record);
    const key = row.splice(0, this.key.length);
    return [...row, ...sealedTexts, ...key];
  }

  /**
   * An UPDATE of some fields. Indexes that contain none of them need no change, which makes it faster than {@link
   * update}.
   */
  updateOf(...fields: (keyof Rec & string)[]): { text: string; values: (record: Rec) => SqlValue[] } {
    const names = [...fields.map((field) => this.columnOf(field)), 'checksum', ...this.key];
    const places = names.map((name) => this.#written.indexOf(name));
    const sets = names.slice(0, -this.key.length).map((name) => `${name} = ?`);
    const where = this.key.map((name) => `${name} = ?`);
    return {
      text: `UPDATE ${this.table} SET ${sets.join(', ')} WHERE ${where.join(' AND ')}`,
      values: (record) => {
        const row = this.row(record);
        return places.map((place) => row[place] as SqlValue);
      },
    };
  }

  /** The values for {@link insert} when fields are sealed. */
  rowWithTexts(record: Rec, textKey: TextKey, random: Random): SqlValue[] {
    const values = this.row(record);
    values.push(textKey.id, this.sealTexts(record, textKey, random));
    return values;
  }

  /** All columns of a record with texts, by name. */
  cells(record: Rec, textKey: TextKey, random: Random): Record<string, SqlValue> {
    const values = this.rowWithTexts(record, textKey, random);
    return Object.fromEntries(this.#written.map((name, i) => [name, values[i] as SqlValue]));
  }

  /** The additional value for {@link updateWithTexts}. */
  sealTexts(record: Rec, textKey: TextKey, random: Random): Uint8Array {
    return seal(this.#textsOf(record), textKey.key, random);
  }

  /** Whether two records have the same texts. */
  sameTexts(a: Rec, b: Rec): boolean {
    return this.#textsOf(a) === this.#textsOf(b);
  }

  /** Converts a row to a record. Error: `storage_damaged` when a checksum does not match. */
  record(row: object): Rec {
    return this.#record(row as Cells, this.hasTexts ? this.#openTexts(row as Cells) : []);
  }

  /** Converts a row whose texts are damaged, with `texts` instead. */
  recordWith(texts: Partial<Rec>, row: object): Rec {
    const values = this.#sealed.map(({ field }) => (texts as Record<string, unknown>)[field]);
    return this.#record(row as Cells, values);
  }

  #record(cells: Cells, texts: unknown[]): Rec {
    const record = { ...this.#blank };
    for (const [i, { field }] of this.#sealed.entries()) record[field] = texts[i] ?? null;
    const values: SqlValue[] = [];
    for (const { name, field, kind, isOptional, before } of this.#columns) {
      const value = cells[name] ?? null;
      values.push(value);
      if (before !== undefined && value === null) record[field] = before;
      else if (kind === 'json') record[field] = value === null ? null : parsed(value as string);
      else if (!isOptional || value !== null) record[field] = value;
    }
    const isAsWritten =
      this.#checksumOf(values) === cells['checksum'] &&
      this.#derived.every(({ name, derive }) => derive(record as Rec) === cells[name]);
    if (!isAsWritten) throw this.#damaged(cells);
    return record as Rec;
  }

  #checksumOf(values: SqlValue[]): number {
    let count = values.length;
    while (count > this.#firstColumns && values[count - 1] === null) count -= 1;
    return checksumOf(count === values.length ? values : values.slice(0, count));
  }

  #textsOf(record: Rec): string {
    return JSON.stringify(
      this.#sealed.map(({ field }) => (record as Record<string, unknown>)[field] ?? null),
    );
  }

  #openTexts(cells: Cells): unknown[] {
    try {
      return JSON.parse(decrypt(cells['texts'] as Uint8Array, textKeyOf(cells).key)) as unknown[];
    } catch (error) {
      throw this.#damaged(cells, error);
    }
  }

  #damaged(cells: Cells, cause?: unknown): ScenepressError {
    const key = this.key.map((name) => cells[name]).join(', ');
    return new ScenepressError(
      'storage_damaged',
      `The row ${key} of the table ${this.table} is damaged. Restore a backup, or run \`scenepress recover\`.`,
      { cause },
    );
  }
}

/** The text key of a row. */
export function textKeyOf(row: object): TextKey {
  const { text_key_id: id, text_key: key } = row as { text_key_id: number; text_key: Uint8Array };
  return { id, key: createSecretKey(key) };
}

/** The checksum is that of the value. A database would return another one for a value that does not fit its column. */
function columnValue({ kind, name, before }: Column, value: unknown): SqlValue {
  if (value === undefined || value === null) return null;
  if (before !== undefined && isDeepStrictEqual(value, before)) return null;
  if (kind === 'json') return JSON.stringify(value);
  if (kind === 'text' || kind === 'optionalText') {
    if (typeof value !== 'string' || !value.isWellFormed()) assert.fail(`${name} is well-formed text`);
    return value;
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) assert.fail(`${name} is a finite number`);
  return kind === 'whole' ? Math.floor(value) : value;
}

/** The JSON of a damaged row may be invalid. */
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
