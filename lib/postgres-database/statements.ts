import type { SqlValue } from '../storage/sql.ts';
import type { PgQuery } from './driver.ts';

/** Statements whose plans are kept by each connection. Beyond that number they are planned at each call. */
const MOST_PREPARED = 500;

/** By their text. */
const known = new Map<string, { name?: string; text: string }>();

/** Converts a statement with `?` placeholders into one of Postgres. */
export function queryOf(text: string, values: SqlValue[]): PgQuery {
  const statement = known.get(text) ?? remembered(text);
  return { ...statement, values };
}

function remembered(text: string): { name?: string; text: string } {
  let count = 0;
  const numbered = text.replaceAll('?', () => `$${++count}`);
  if (known.size >= MOST_PREPARED) return { text: numbered };
  const statement = { name: `s${known.size}`, text: numbered };
  known.set(text, statement);
  return statement;
}
