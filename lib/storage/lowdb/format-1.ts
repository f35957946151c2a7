import type { LedgerEntry } from '../../ledger/ledger-store.ts';
import type { Disk } from '../disk.ts';
import { ENTRIES, rowIdOf } from './ledger-rows.ts';
import { type Tables, tableIn } from './tables.ts';

/**
 * Format 1 kept all rows in memory, but for three tables whose rows were wrapped: `{ value }`, or the place of one in a
 * file `rows-…`. And it named ledger entries by their own id only.
 */
const WRAPPED = ['sources', 'deliveryBodies', 'deliveryAnswers'];

export const FORMAT_1_FILE: RegExp = /^rows-\d{16}$/;

type WrappedRow = { value: unknown } | { pack: string; at: number; bytes: number };

/** Turns rows of format 1 into rows of today. */
export async function modernise(disk: Disk, folder: string, tables: Tables): Promise<void> {
  const files = new Map<string, Buffer>();
  for (const table of WRAPPED) {
    const rows = tableIn(tables, table);
    for (const [id, row] of rows as Map<string, WrappedRow | null>) {
      if (row === null) continue;
      if ('value' in row) {
        rows.set(id, row.value);
        continue;
      }
      const bytes = files.get(row.pack) ?? (await disk.read(`${folder}/${row.pack}`));
      if (!bytes) throw new Error(`${row.pack} is missing`);
      files.set(row.pack, bytes);
      rows.set(id, JSON.parse(bytes.toString('utf8', row.at, row.at + row.bytes)));
    }
  }
  const removals = tableIn(tables, 'artifactRemovals') as Map<string, object | null>;
  for (const [jobId, row] of removals) if (row) removals.set(jobId, { jobId, ...row });
  const entries = [...tableIn(tables, ENTRIES).values()] as LedgerEntry[];
  tables.set(ENTRIES, new Map(entries.map((entry) => [rowIdOf(entry), entry])));
}
