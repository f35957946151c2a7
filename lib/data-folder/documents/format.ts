import { type DocumentFormat, Flaw } from './document-file.ts';
import type { Fields } from './fields.ts';
import type { UniqueValues } from './table.ts';

const FORMAT = 1;

/** A document of one record: `{ "format": 1, … }`. */
export function recordFormat<Row>(fields: Fields<Row>, empty: Row): DocumentFormat<Row> {
  return {
    empty,
    parse(text) {
      const { format: _, ...rest } = envelopeIn(text);
      return fields.read(rest);
    },
    printer: () => (row) => [
      Buffer.from(`${JSON.stringify({ format: FORMAT, ...fields.written(row) }, null, 2)}\n`),
    ],
  };
}

/** The format version is newer than this program. */
export class LaterFormat extends Flaw {}

export interface ListFormat<Row> extends DocumentFormat<Row[]> {
  /** The name of the list, such as `accounts`. */
  name: string;
  /** The id field of an entry. */
  id: string;
  idOf(row: Row): string;
  /** Parses an entry; throws a {@link Flaw} that names the invalid field. */
  readEntry(value: unknown): Row;
  /** Unique values by field. */
  unique: UniqueValues<Row>;
}

/**
 * A document with a list of records: `{ "format": 1, "accounts": [ … ] }`. `id`: the id field of entries. `unique`:
 * unique values by field.
 */
export function listFormat<Row extends object>(
  name: string,
  rules: { fields: Fields<Row>; id: keyof Row & string; unique: UniqueValues<Row> },
): ListFormat<Row> {
  const { fields, id } = rules;
  const readEntry = (value: unknown): Row => fields.read(value);
  const idOf = (row: Row) => String(row[id]);
  const unique: UniqueValues<Row> = { [id]: idOf, ...rules.unique };
  return {
    name,
    id,
    idOf,
    empty: [],
    readEntry,
    unique,
    parse(text) {
      const { format: _, [name]: entries, ...others } = envelopeIn(text);
      if (!Array.isArray(entries)) throw new Flaw(`"${name}" must be a list: […]`);
      const [other] = Object.keys(others);
      if (other !== undefined) throw new Flaw(`"${other.slice(0, 80)}" is not a known field`);
      const rows = entries.map((entry: unknown, index) => {
        try {
          return readEntry(entry);
        } catch (error) {
          throw error instanceof Flaw ? new Flaw(`${placeOf(entry, index, id)}: ${error.message}`) : error;
        }
      });
      assertUnique(rows, id, unique);
      return rows;
    },
    printer() {
      const printer = new ListPrinter(name, fields);
      return (rows) => printer.print(rows);
    },
  };
}

/** Records per cached block: a change prints those of one, in about a millisecond. */
const BLOCK = 200;

/**
 * Prints a list, one block after the other; caches the bytes of blocks whose records did not change. Writing a list of
 * any length therefore doesn't hold the event loop.
 */
class ListPrinter<Row> {
  readonly #name: string;
  readonly #fields: Fields<Row>;
  readonly #blocks: { rows: Row[]; bytes: Buffer }[] = [];

  constructor(name: string, fields: Fields<Row>) {
    this.#name = name;
    this.#fields = fields;
  }

  *print(rows: Row[]): Generator<Buffer> {
    const head = `{\n  "format": ${FORMAT},\n  "${this.#name}": [`;
    if (rows.length === 0) return yield Buffer.from(`${head}]\n}\n`);
    yield Buffer.from(head);
    for (let from = 0; from < rows.length; from += BLOCK) yield this.#block(from, rows);
    yield Buffer.from('\n  ]\n}\n');
  }

  #block(from: number, rows: Row[]): Buffer {
    const inBlock = rows.slice(from, from + BLOCK);
    const before = this.#blocks[from / BLOCK];
    if (before && isSame(before.rows, inBlock)) return before.bytes;
    const bytes = Buffer.from(`${from === 0 ? '' : ','}${this.#entries(inBlock)}`);
    this.#blocks[from / BLOCK] = { rows: inBlock, bytes };
    return bytes;
  }

  #entries(rows: Row[]): string {
    const list = JSON.stringify({ '': rows.map((row) => this.#fields.written(row)) }, null, 2);
    return list.slice('{\n  "": ['.length, -'\n  ]\n}'.length);
  }
}

function isSame<Row>(some: Row[], others: Row[]): boolean {
  return some.length === others.length && some.every((row, index) => row === others[index]);
}

function envelopeIn(text: string): Record<string, unknown> {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Flaw('it must be an object: {…}');
  }
  const { format } = value as { format?: unknown };
  if (format === FORMAT) return value as Record<string, unknown>;
  if (typeof format === 'number' && format > FORMAT) {
    throw new LaterFormat(
      `it has format ${format}, which a later version of Scenepress wrote: use that version`,
    );
  }
  throw new Flaw(`"format" must be ${FORMAT}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The original message is not shown, because it quotes the text, which may be an address or a hash.
    const at = Number(/position (\d+)/.exec((cause as Error).message)?.[1] ?? text.length);
    const before = text.slice(0, at).split('\n');
    const column = (before.at(-1) as string).length + 1;
    throw new Flaw(`it is not valid JSON from line ${before.length}, column ${column} on`);
  }
}

function placeOf(entry: unknown, index: number, id: string): string {
  const name = (entry as Record<string, unknown> | null)?.[id];
  return `entry ${index + 1}${typeof name === 'string' ? ` (${name.slice(0, 80)})` : ''}`;
}

function assertUnique<Row>(rows: Row[], id: string, unique: UniqueValues<Row>): void {
  for (const [name, valueIn] of Object.entries(unique)) {
    const places = new Map<string, number>();
    for (const [index, row] of rows.entries()) {
      const value = valueIn(row);
      if (value === undefined) continue;
      const other = places.get(value);
      if (other !== undefined)
        throw new Flaw(`${placeOf(row, index, id)}: "${name}" is already used by entry ${other + 1}`);
      places.set(value, index);
    }
  }
}
