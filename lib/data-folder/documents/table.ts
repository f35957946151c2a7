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
}

/** An in-memory table, indexed by id and unique values, listed oldest first. Rows are frozen and never removed. */
export class Table<Row extends { createdAtMs: number }> implements DocumentContent<Row[], Draft<Row>> {
  readonly #rules: TableRules<Row>;
  /** By id, oldest first. */
  #rows = new Map<string, Row>();
  /** By name and unique value. */
  readonly #byValue = new Map<string, Row>();

  constructor(rules: TableRules<Row>) {
    this.#rules = rules;
  }

  /** All rows, oldest first. */
  all(): Row[] {
    return [...this.#rows.values()];
  }

  get size(): number {
    return this.#rows.size;
  }

  load(rows: Row[]): void {
    this.#rows.clear();
    this.#byValue.clear();
    this.#put(rows.map((row) => Object.freeze(row)));
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  /** The row with a unique value. */
  find(name: string, value: string): Row | undefined {
    return this.#byValue.get(keyOf(name, value));
  }

  /** `matches`: only such rows. */
  list({ limit = DEFAULT_PAGE, after }: Page = {}, matches: (row: Row) => boolean = () => true): Row[] {
    if (after !== undefined && !this.#rows.has(after))
      throw new ScenepressError('not_found', `There is no ${this.#rules.noun} ${after}.`);
    const rows = this.#rows.values();
    if (after !== undefined) while (this.#rules.idOf(rows.next().value as Row) !== after);
    return rows.filter(matches).take(limit).toArray();
  }

  draft(): Draft<Row> {
    return new Draft(this, this.#rules);
  }

  merged({ rows }: Draft<Row>): Row[] | undefined {
    return rows.size === 0 ? undefined : [...new Map([...this.#rows, ...rows]).values()];
  }

  commit({ rows }: Draft<Row>): void {
    this.#put(rows.values());
  }

  #put(rows: Iterable<Row>): void {
    let isSorted = true;
    let last = [...this.#rows.values()].at(-1);
    for (const row of rows) {
      const id = this.#rules.idOf(row);
      const before = this.#rows.get(id);
      // Another row may have taken a value in the same write.
      for (const key of before ? this.#keysOf(before) : [])
        if (this.#byValue.get(key) === before) this.#byValue.delete(key);
      for (const key of this.#keysOf(row)) this.#byValue.set(key, row);
      this.#rows.set(id, row);
      if (before) continue;
      if (last && this.#order(last, row) > 0) isSorted = false;
      last = row;
    }
    if (isSorted) return;
    const sorted = this.all().sort((a, b) => this.#order(a, b));
    this.#rows = new Map(sorted.map((row) => [this.#rules.idOf(row), row]));
  }

  #keysOf(row: Row): string[] {
    return Object.entries(this.#rules.unique).flatMap(([name, valueIn]) => {
      const value = valueIn(row);
      return value === undefined ? [] : [keyOf(name, value)];
    });
  }

  #order(a: Row, b: Row): number {
    return a.createdAtMs - b.createdAtMs || (this.#rules.idOf(a) < this.#rules.idOf(b) ? -1 : 1);
  }
}

/** Unwritten changes to a table. */
export class Draft<Row extends { createdAtMs: number }> {
  readonly #table: Table<Row>;
  readonly #rules: TableRules<Row>;
  /** Changed rows, by id. */
  readonly rows: Map<string, Row> = new Map();

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
    const changed = this.rows.values().find((row) => valueIn(row) === value);
    if (changed) return changed;
    const row = this.#table.find(name, value);
    return row && this.rows.has(this.#rules.idOf(row)) ? undefined : row;
  }

  /** Adds a copy of a row, or replaces the row with its id. Its unique values must be free. */
  put(row: Row): void {
    this.rows.set(this.#rules.idOf(row), Object.freeze({ ...row }));
  }
}

function keyOf(name: string, value: string): string {
  return `${name}\0${value}`;
}
