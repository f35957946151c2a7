/** The SQL of the number of an advisory lock; `name` is the SQL of its name, which starts with the schema. */
export function lockOf(name: string): string {
  return `hashtextextended(${name}, 0)`;
}
