/** A page of a list, of which one row more was read: its rows, and `after` of the next page; null at the end. */
export function pageOf<Row>(
  found: Row[],
  limit: number,
  idOf: (row: Row) => string,
): { rows: Row[]; next: string | null } {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: found.length > limit && last ? idOf(last) : null };
}
