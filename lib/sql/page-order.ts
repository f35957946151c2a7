import { ScenepressError } from '../base/errors.ts';
import type { SqlReader } from '../storage/sql.ts';
import type { RowFormat } from './row-format.ts';

/**
 * The records of a page of a listing. Error: `storage_damaged` when their keys are not in order after the previous
 * page: a damaged index may contain a cycle, and paging would never end.
 */
export function inOrder<Rec extends object>(
  { table }: { readonly table: string },
  keyOf: (record: Rec) => string,
  records: Rec[],
  { up, from }: { up: boolean; from?: string | undefined },
): Rec[] {
  let before = from;
  for (const record of records) {
    const next = keyOf(record);
    const isInOrder = before === undefined || (up ? next > before : next < before);
    if (!isInOrder) {
      const message = `The index of the table ${table} is damaged. Restore a backup, or run \`scenepress recover\`.`;
      throw new ScenepressError('storage_damaged', message);
    }
    before = next;
  }
  return records;
}

/** The time and id behind which a page of a list starts, oldest first. Error: `not_found` when there is no such row. */
export async function startOfPage<Rec extends { createdAtMs: number }>(
  reader: SqlReader,
  format: RowFormat<Rec>,
  noun: string,
  after: string | undefined,
): Promise<[createdAtMs: number, id: string]> {
  if (after === undefined) return [Number.MIN_SAFE_INTEGER, ''];
  const row = await reader.get(format.byKey, after);
  if (!row) throw new ScenepressError('not_found', `There is no ${noun} ${after.slice(0, 80)}.`);
  return [format.record(row).createdAtMs, after];
}
