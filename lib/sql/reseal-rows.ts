import type { ResealedStep, ResealStep } from '../keys/sealed-secrets.ts';
import type { SqlDatabase } from '../storage/sql.ts';
import { inOrder } from './page-order.ts';
import type { RowFormat } from './row-format.ts';

/** Re-encrypts the secrets of at most `limit` rows of a table, in key order. */
export function resealRows<Rec extends object>(
  database: SqlDatabase,
  format: RowFormat<Rec>,
  secret: keyof Rec & string,
  { reseal, from = '', limit }: ResealStep,
): Promise<ResealedStep> {
  const { table, names } = format;
  const [key = ''] = format.key;
  const column = format.columnOf(secret);
  return database.transaction(async (tx) => {
    if (from === '') await tx.lockAll();
    const rows = await tx.allForUpdate<Record<string, string>>(
      `SELECT ${names} FROM ${table} WHERE ${column} IS NOT NULL AND ${key} > ? ORDER BY ${key} LIMIT ?`,
      from,
      limit,
    );
    inOrder(format, (row) => row[key] as string, rows, { up: true, from });
    let replaced = 0;
    for (const row of rows) {
      const record = format.record(row);
      const sealed = record[secret] as string;
      const resealed = reseal(sealed);
      if (resealed === sealed) continue;
      const changed = { ...record, [secret]: resealed };
      await tx.run(format.update, ...format.changes(changed));
      replaced += 1;
    }
    return { replaced, next: rows.length < limit ? undefined : rows.at(-1)?.[key] };
  });
}
