import { ScenepressError } from '../errors.ts';
import type { SqlReader } from '../storage/sql.ts';
import type { RowFormat } from './row-format.ts';

/** The time and id behind which a page of a list starts, oldest first. Error: `not_found` when there is no such row. */
export async function placeAfter<Rec extends { createdAtMs: number }>(
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
