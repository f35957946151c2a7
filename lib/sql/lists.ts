/** The condition that a column has one of these values, at least one, with a placeholder for each. */
export function isIn(column: string, values: readonly unknown[]): string {
  return `${column} IN (${marksFor(values)})`;
}

/** The condition that a column has none of these values, with a placeholder for each. */
export function notIn(column: string, values: readonly unknown[]): string {
  return values.length === 0 ? '1 = 1' : `${column} NOT IN (${marksFor(values)})`;
}

function marksFor(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}
