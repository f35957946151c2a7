import type { SqlReader, SqlValue } from '../storage/sql.ts';

/** A page of links, newest first: their ids sort by age. */
interface LinkPage {
  owner?: string | undefined;
  /** Only those whose ids are less. */
  before?: string | undefined;
  limit: number;
}

/** Reads a page of a table of links. `select`: without a condition; `key`: the column of their ids. */
export function pageOfLinks(
  from: SqlReader,
  { select, key }: { select: string; key: string },
  { owner, before, limit }: LinkPage,
): Promise<object[]> {
  const conditions: [text: string, value: SqlValue | undefined][] = [
    ['owner = ?', owner],
    [`${key} < ?`, before],
  ];
  const given = conditions.filter((pair): pair is [string, SqlValue] => pair[1] !== undefined);
  const where = given.length === 0 ? '' : ` WHERE ${given.map(([text]) => text).join(' AND ')}`;
  const text = `${select}${where} ORDER BY ${key} DESC LIMIT ?`;
  return from.all(text, ...given.map(([, value]) => value), limit);
}
