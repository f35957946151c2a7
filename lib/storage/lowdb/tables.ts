/** Rows by table and id. Maps, because ids can be any text, `__proto__` too. */
export type Tables = Map<string, Map<string, unknown>>;

/** One write of a commit: a row put, or removed when `row` is undefined. */
export interface Operation {
  table: string;
  id: string;
  row: unknown;
  /** The row as JSON; undefined for a removal. */
  json: string | undefined;
}

export function put(table: string, id: string, row: unknown): Operation {
  const json = JSON.stringify(row);
  // A copy of its own, which nobody changes: made of the text, because that is faster than structuredClone.
  return { table, id, row: Object.freeze(JSON.parse(json)), json };
}

export function removal(table: string, id: string): Operation {
  return { table, id, row: undefined, json: undefined };
}

/** The rows of a table, made when it isn't there. */
export function tableIn(tables: Tables, table: string): Map<string, unknown> {
  const rows = tables.get(table) ?? new Map<string, unknown>();
  tables.set(table, rows);
  return rows;
}

export function applyTo(tables: Tables, { table, id, row }: Pick<Operation, 'table' | 'id' | 'row'>): void {
  const rows = tableIn(tables, table);
  if (row === undefined) rows.delete(id);
  else rows.set(id, row);
}
