/** Rows by table and id. Maps, because ids can be any text, `__proto__` too. A null row: one that was removed. */
export type Tables = Map<string, Map<string, unknown>>;

/** One write of a commit: a row put, or removed when `row` is undefined. */
export interface Operation {
  table: string;
  id: string;
  row: unknown;
}

/** A place in an index: rows of one bucket are listed together, in the order of `order`. */
export interface IndexKey {
  bucket: string[];
  /** Different for each row. */
  order: string;
}

/** What becomes of the rows of a table that grows with the jobs. */
export interface ArchiveRule<Row> {
  /** Whether a row may leave memory: it hardly changes any more. */
  finished: (row: Row) => boolean;
  /** Whether the last ones that have finished stay in memory, because they are asked for most. */
  keepsRecent?: boolean;
  /** Whether single rows are often asked for: then they are not compressed. */
  soughtById?: boolean;
  /** How rows are listed, other than by id. */
  indexes?: Record<string, (row: Row) => IndexKey>;
}

export type ArchiveRules = Map<string, ArchiveRule<unknown>>;

/** A copy of JSON data that nobody can change. By hand, because it is made of every row that is written. */
export function frozenCopy(value: unknown): unknown {
  // Here, in its own transaction, and not when it is written together with others.
  if (typeof value === 'bigint') throw new TypeError('JSON has no bigint');
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  const copy = { ...(value as Record<string, unknown>) };
  for (const name in copy) {
    const member = copy[name];
    if (typeof member === 'object' && member !== null) copy[name] = frozenCopy(member);
  }
  return Object.freeze(copy);
}

/** The rows of a table, made when it isn't there. */
export function tableIn(tables: Tables, table: string): Map<string, unknown> {
  const known = tables.get(table);
  if (known) return known;
  const rows = new Map<string, unknown>();
  tables.set(table, rows);
  return rows;
}

/** Removed rows of tables that may be archived leave a null: it hides what is in the archive. */
export function applyTo(
  tables: Tables,
  { table, id, row }: Pick<Operation, 'table' | 'id' | 'row'>,
  rules: ArchiveRules,
): void {
  const rows = tableIn(tables, table);
  if (row !== undefined) rows.set(id, row);
  else if (rules.has(table)) rows.set(id, null);
  else rows.delete(id);
}

/** The name of an index's rows in packs. */
export function indexTable(table: string, index: string): string {
  return `${table}.${index}`;
}

/** What the ids of a bucket's rows in an index begin with. */
export function bucketPrefix(bucket: string[]): string {
  return `${bucket.join('\0')}\0`;
}
