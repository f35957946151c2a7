import assert from 'node:assert/strict';
import { ScenepressError } from '../../base/errors.ts';
import { DEFAULT_PAGE, type Page } from '../../base/pages.ts';
import type { DocumentContent } from './document.ts';

/** Unique values of a row, by name; undefined: the row has none. */
export type UniqueValues<Row> = Record<string, (row: Row) => string | undefined>;

/** The keys and indexes of a table. */
export interface TableRules<Row> {
  /** The name of a row in messages. */
  noun: string;
  idOf: (row: Row) => string;
  unique: UniqueValues<Row>;
  /** The group in which a row is listed. */
  groupOf?: (row: Row) => string;
  /** Whether a row is listed. */
  isListed?: (row: Row) => boolean;
}

/** An in-memory table, indexed by id and unique values, listed oldest first. Rows are frozen and never removed. */
export class Table<Row extends { createdAtMs: number }> implements DocumentContent<Row[], Draft<Row>> {
  readonly #rules: TableRules<Row>;
  readonly #rows = new Map<string, Row>();
  readonly #ids = new Map<string, Map<string, string>>();
  /** Ids, oldest first. */
  readonly #all: string[] = [];
  readonly #groups = new Map<string, string[]>();

  constructor(rules: TableRules<Row>) {
    this.#rules = rules;
    for (const name of Object.keys(rules.unique)) this.#ids.set(name, new Map());
  }

  /** All rows, oldest first, listed or not. */
  all(): Row[] {
    return this.#all.map((id) => this.#rows.get(id) as Row);
  }

  get size(): number {
    return this.#rows.size;
  }

  load(rows: Row[]): void {
    this.#rows.clear();
    for (const ids of this.#ids.values()) ids.clear();
    this.#all.length = 0;
    this.#groups.clear();
    for (const row of rows) this.#put(Object.freeze(row));
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  /** The row with a unique value. */
  find(name: string, value: string): Row | undefined {
    const id = this.#ids.get(name)?.get(value);
    return id === undefined ? undefined : this.#rows.get(id);
  }

  /** `group`: only its rows. `matches`: only such rows. */
  list(
    { limit = DEFAULT_PAGE, after }: Page = {},
    { group, matches = () => true }: { group?: string | undefined; matches?: (row: Row) => boolean } = {},
  ): Row[] {
    const ids = group === undefined ? this.#all : (this.#groups.get(group) ?? []);
    const rows: Row[] = [];
    for (let at = this.#placeAfter(ids, after); at < ids.length && rows.length < limit; at += 1) {
      const row = this.#rows.get(ids[at] as string) as Row;
      if ((this.#rules.isListed?.(row) ?? true) && matches(row)) rows.push(row);
    }
    return rows;
  }

  draft(): Draft<Row> {
    return new Draft(this, this.#rules);
  }

  merged({ rows }: Draft<Row>): Row[] | undefined {
    if (rows.size === 0) return undefined;
    const all = this.#all.map((id) => rows.get(id) ?? (this.#rows.get(id) as Row));
    for (const [id, row] of rows) if (!this.#rows.has(id)) all.push(row);
    return all;
  }

  commit({ rows }: Draft<Row>): void {
    for (const row of rows.values()) this.#put(row);
  }

  #put(row: Row): void {
    const { idOf, unique, groupOf } = this.#rules;
    const id = idOf(row);
    const before = this.#rows.get(id);
    this.#rows.set(id, row);
    for (const [name, valueIn] of Object.entries(unique)) {
      const ids = this.#ids.get(name) as Map<string, string>;
      const [old, value] = [before && valueIn(before), valueIn(row)];
      // Another row may have taken the value in the same write.
      if (old !== undefined && old !== value && ids.get(old) === id) ids.delete(old);
      if (value !== undefined) ids.set(value, id);
    }
    if (before) return;
    this.#enter(this.#all, id);
    if (groupOf) this.#enter(this.#group(groupOf(row)), id);
  }

  #group(name: string): string[] {
    const known = this.#groups.get(name);
    if (known) return known;
    const group: string[] = [];
    this.#groups.set(name, group);
    return group;
  }

  /** Fast path: new rows are nearly always the newest. */
  #enter(ids: string[], id: string): void {
    const last = ids.at(-1);
    if (last === undefined || this.#isOlder(last, id)) ids.push(id);
    else ids.splice(this.#placeOf(ids, id), 0, id);
  }

  #placeAfter(ids: string[], after: string | undefined): number {
    if (after === undefined) return 0;
    if (!this.#rows.has(after))
      throw new ScenepressError('not_found', `There is no ${this.#rules.noun} ${after}.`);
    const place = this.#placeOf(ids, after);
    return ids[place] === after ? place + 1 : place;
  }

  /** The number of older rows, by binary search. */
  #placeOf(ids: string[], id: string): number {
    let [low, high] = [0, ids.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#isOlder(ids[middle] as string, id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isOlder(id: string, other: string): boolean {
    const [{ createdAtMs: a }, { createdAtMs: b }] = [
      this.#rows.get(id) as Row,
      this.#rows.get(other) as Row,
    ];
    return a === b ? id < other : a < b;
  }
}

/** Unwritten changes to a table. */
export class Draft<Row extends { createdAtMs: number }> {
  readonly #table: Table<Row>;
  readonly #rules: TableRules<Row>;
  /** Changed rows, by id. */
  readonly rows: Map<string, Row> = new Map();
  /** The last row with each unique value. */
  readonly #ids = new Map<string, string>();

  constructor(table: Table<Row>, rules: TableRules<Row>) {
    this.#table = table;
    this.#rules = rules;
  }

  get(id: string): Row | undefined {
    return this.rows.get(id) ?? this.#table.get(id);
  }

  find(name: string, value: string): Row | undefined {
    const valueIn = this.#rules.unique[name];
    assert(valueIn, 'a unique value of this table');
    const ids = [this.#ids.get(nameOf(name, value)), this.#idIn(name, value)];
    for (const id of ids) {
      const row = id === undefined ? undefined : this.get(id);
      if (row && valueIn(row) === value) return row;
    }
    return undefined;
  }

  /** Adds a copy of a row, or replaces the row with its id. Its unique values must be free. */
  put(row: Row): void {
    const id = this.#rules.idOf(row);
    this.rows.set(id, Object.freeze({ ...row }));
    for (const [name, valueIn] of Object.entries(this.#rules.unique)) {
      const value = valueIn(row);
      if (value !== undefined) this.#ids.set(nameOf(name, value), id);
    }
  }

  #idIn(name: string, value: string): string | undefined {
    const row = this.#table.find(name, value);
    return row && this.#rules.idOf(row);
  }
}

function nameOf(name: string, value: string): string {
  return `${name}\0${value}`;
}
