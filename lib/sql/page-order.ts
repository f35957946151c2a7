import { ScenepressError } from '../errors.ts';

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
