import type { ResealedStep, ResealStep } from '../storage.ts';
import type { LowdbDatabase } from './database.ts';

/** Seals secrets in the rows of a table anew, newest first: those of at most `limit` rows. */
export async function resealRows<Row extends object>(
  database: LowdbDatabase,
  { reseal, from, limit }: ResealStep,
  { table, idOf, secret }: { table: string; idOf: (row: Row) => string; secret: keyof Row },
): Promise<ResealedStep> {
  const ids: string[] = [];
  let [seen, last] = [0, ''];
  // After that, what was written before is seen.
  if (from === undefined) await database.transaction(async () => {});
  for await (const row of database.newestFirst<Row>(table, from === undefined ? {} : { before: from })) {
    [seen, last] = [seen + 1, idOf(row)];
    if (row[secret] !== undefined) ids.push(last);
    if (seen === limit) break;
  }
  const replaced = await database.transaction(async (tx) => {
    let count = 0;
    for (const id of ids) {
      const row = await tx.find<Row>(table, id);
      const sealed = row?.[secret];
      if (typeof sealed !== 'string') continue;
      const anew = reseal(sealed);
      if (anew === sealed) continue;
      tx.put(table, id, { ...row, [secret]: anew });
      count += 1;
    }
    return count;
  });
  return { replaced, next: seen < limit ? undefined : last };
}
