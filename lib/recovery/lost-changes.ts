import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import type { Connection } from '../storage/sqlite/connection.ts';
import type { LostRow } from './lost-row.ts';
import { keyOf, nameOf, type Row, rowsOf, TABLES, type Table } from './salvage.ts';

const REASON = 'the write-ahead log is damaged';

/** Rows that differ between a later state of a database and the saved one. */
export function lostChanges(later: Connection, saved: Connection): LostRow[] {
  return TABLES.flatMap((table) => changesIn(table, later, saved));
}

function changesIn(table: Table, later: Connection, saved: Connection): LostRow[] {
  const lost: LostRow[] = [];
  const fingerprints = new Map<string, string>();
  for (const { row } of rowsOf(saved, table))
    if (row) fingerprints.set(nameOf(keyOf(table, row)), fingerprintOf(row));
  let isWhole = true;
  for (const { row } of rowsOf(later, table)) {
    isWhole &&= row !== undefined;
    if (!row) continue;
    const key = nameOf(keyOf(table, row));
    const before = fingerprints.get(key);
    fingerprints.delete(key);
    if (before === fingerprintOf(row)) continue;
    lost.push({ table: table.name, key, reason: before ? `its last change: ${REASON}` : REASON });
  }
  if (!isWhole) return lost;
  return [
    ...lost,
    ...[...fingerprints.keys()].map((key) => ({ table: table.name, key, reason: `its removal: ${REASON}` })),
  ];
}

function fingerprintOf(row: Row): string {
  return createHash('sha256').update(serialize(row)).digest('base64');
}
