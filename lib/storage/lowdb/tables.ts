/** Rows by table and id. Maps, because ids can be any text, `__proto__` too. */
export type Tables = Map<string, Map<string, unknown>>;

/** One write of a commit: a row put, or removed when `row` is undefined. */
export interface Operation {
  table: string;
  id: string;
  row: unknown;
}

/** The rows of a table, made when it isn't there. */
export function tableIn(tables: Tables, table: string): Map<string, unknown> {
  const rows = tables.get(table) ?? new Map<string, unknown>();
  tables.set(table, rows);
  return rows;
}

export function applyTo(tables: Tables, { table, id, row }: Operation): void {
  const rows = tableIn(tables, table);
  if (row === undefined) rows.delete(id);
  else rows.set(id, row);
}
