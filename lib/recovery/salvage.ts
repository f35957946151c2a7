import { createSecretKey } from 'node:crypto';
import { turn } from '../clock.ts';
import type { Random } from '../random.ts';
import type { RowFormat } from '../sql/row-format.ts';
import {
  ACCOUNTS,
  ACTS,
  BODIES,
  DELIVERIES,
  ENTRIES,
  EXCHANGES,
  GRANTS,
  JOBS,
  KEY_USES,
  REQUESTS,
  SESSIONS,
  SOURCES,
  TIMELINES,
} from '../sql/tables.ts';
import type { TextKey } from '../sql/text-keys.ts';
import type { SqlValue } from '../storage/sql.ts';
import type { Connection } from '../storage/sqlite/connection.ts';
import type { LostRow } from './lost-row.ts';

export type Row = Record<string, SqlValue>;
type Key = SqlValue[];

export interface Table {
  name: string;
  key: string[];
  /** The table's rows are stored by row id, so a damaged index on `key` hides none of them. */
  hasRowIds?: boolean;
  /** Queries for keys in indexes, which may list unreadable rows. */
  indexes: string[];
  /** A query over saved rows for keys that must exist. */
  expected?: string;
  /** A query for keys that may exist, used when some rows are unreadable. */
  supposed?: string;
  /** Throws when a row is damaged. */
  check: (row: Row) => void;
  /** Replaces unreadable texts of a row. Throws when the rest is damaged. */
  withoutTexts?: (row: Row, textKey: TextKey, how: Salvage) => Row;
}

/** Parameters of {@link salvage}. */
export interface Salvage {
  /** When unreadable texts count as forgotten. */
  now: Date;
  /** The source of nonces. */
  random: Random;
  /** Aborts it. */
  signal?: AbortSignal | undefined;
}

function checked<Rec extends object>(format: RowFormat<Rec>, ...indexes: string[]): Table {
  return {
    name: format.table,
    key: format.key,
    indexes: indexes.map(
      (index) => `SELECT ${format.key.join(', ')} FROM ${format.table} INDEXED BY ${index}`,
    ),
    check: (row) => void format.record(row),
  };
}

const FROM_KEPT_DELIVERIES = 'FROM deliveries JOIN jobs USING (job_id) WHERE forgotten_at_ms IS NULL';

/** In dependency order: each table refers only to earlier ones. */
export const TABLES: Table[] = [
  // A damaged key is detected when its texts are decrypted.
  { name: 'text_keys', key: ['text_key_id'], indexes: [], check: () => {} },
  { ...checked(JOBS, 'jobs_of_owner', 'jobs_in_phase'), withoutTexts: jobWithoutTexts },
  { ...checked(SOURCES), expected: 'SELECT job_id FROM jobs WHERE forgotten_at_ms IS NULL' },
  checked(REQUESTS, 'idempotent_requests_by_time'),
  checked(ACCOUNTS, 'ledger_accounts_by_period'),
  {
    ...checked(GRANTS),
    indexes: [
      'SELECT owner, grant_id FROM ledger_entries INDEXED BY one_entry_of_grant WHERE grant_id IS NOT NULL',
      'SELECT owner, grant_id FROM grants INDEXED BY grants_with_credits WHERE is_spent = 0',
    ],
  },
  {
    ...checked(ENTRIES),
    indexes: [
      'SELECT owner, entry_id FROM ledger_entries INDEXED BY one_entry_of_grant WHERE grant_id IS NOT NULL',
      'SELECT owner, entry_id FROM ledger_entries INDEXED BY one_reserve_and_end_of_job WHERE job_id IS NOT NULL',
    ],
  },
  {
    ...checked(DELIVERIES, 'deliveries_of_owner', 'deliveries_of_job'),
    withoutTexts: deliveryWithoutTexts,
  },
  { ...checked(BODIES), expected: `SELECT delivery_id ${FROM_KEPT_DELIVERIES}` },
  {
    ...checked(EXCHANGES),
    supposed: `SELECT delivery_id ${FROM_KEPT_DELIVERIES} AND deliveries.attempts <> '[]'`,
  },
  checked(SESSIONS, 'sessions_of_account', 'sessions_by_expiry'),
  {
    ...checked(ACTS),
    indexes: ['SELECT act_id FROM acts INDEXED BY acts_of_actor WHERE actor IS NOT NULL'],
  },
  { ...checked(KEY_USES, 'sqlite_autoindex_key_uses_1'), hasRowIds: true },
  checked(TIMELINES),
];

const BOOKS = ['grants', 'ledger_entries'];
const PAGE = 500;
/** Replaces the unreadable error of a failed job. */
const ERROR_LOST = 'The render failed. The error message was lost when a disk failed.';

/** Keeps cost, times and owner, as for a forgotten job. */
function jobWithoutTexts(row: Row, textKey: TextKey, { now, random }: Salvage): Row {
  const error = row['phase'] === 'failed' ? ERROR_LOST : null;
  const texts = { className: '', metadataJson: null, webhookUrl: null, outcome: null, error, usage: null };
  const job = { ...JOBS.recordWith(texts, row), forgottenAtMs: now.getTime() };
  return { ...row, ...JOBS.cells(job, textKey, random) };
}

/** Without its texts, a delivery can no longer be sent. */
function deliveryWithoutTexts(row: Row, textKey: TextKey, { random }: Salvage): Row {
  const delivery = { ...DELIVERIES.recordWith({ url: `https://${row['host']}` }, row), dueAtMs: null };
  return { ...row, ...DELIVERIES.cells(delivery, textKey, random) };
}

/**
 * Copies all readable, intact rows whose references were saved from a damaged database to an empty one. Returns the
 * known rows that could not be saved.
 */
export async function salvage(source: Connection, target: Connection, how: Salvage): Promise<LostRow[]> {
  const lost: LostRow[] = [];
  let rows = 0;
  /** Lets other events happen, among them an abort. */
  const pause = async () => {
    rows += 1;
    if (rows % PAGE !== 0) return;
    await turn();
    how.signal?.throwIfAborted();
  };
  for (const table of TABLES) {
    target.run('BEGIN');
    const saved = new Set<string>();
    const known = new Set<string>();
    const lose = (key: string, reason: string) => {
      known.add(key);
      lost.push({ table: table.name, key, reason });
    };
    let isDamaged = false;
    for (const found of rowsOf(source, table)) {
      await pause();
      isDamaged ||= !found.row;
      if (!found.row) {
        lose(`after ${found.after || 'the beginning'}`, found.reason);
        continue;
      }
      const key = nameOf(keyOf(table, found.row));
      if (saved.has(key)) continue; // A damaged page may return a row twice.
      const reason = saveInto(source, target, table, found.row, how);
      if (reason === undefined) saved.add(key);
      else {
        isDamaged = true;
        lose(key, reason);
      }
    }
    for (const { key, isSure } of keysOf(source, target, table, isDamaged)) {
      await pause();
      const name = nameOf(key);
      if (saved.has(name) || known.has(name)) continue;
      const reason = saveOne(source, target, table, key, how);
      if (reason === undefined) saved.add(name);
      else lose(name, isSure ? reason : `if there was one: ${reason}`);
    }
    target.run('COMMIT');
  }
  return lost;
}

/** Recreates the account row, so its ledger entries can be saved. */
function saveOwner(target: Connection, { owner }: Row): void {
  target.run(
    `${ACCOUNTS.insert} ON CONFLICT DO NOTHING`,
    ACCOUNTS.row({ owner: owner as string, period: '' }),
  );
}

/** Whether a table is intact, with no hidden rows. */
function isWhole(source: Connection, { name }: Table): boolean {
  try {
    const rows = source.all<{ integrity_check: string }>(`PRAGMA integrity_check(${name})`, []);
    return rows.every(({ integrity_check: fault }) => fault === 'ok');
  } catch {
    return false;
  }
}

type Found = { row: Row } | { row: undefined; after: string; reason: string };

/** All rows in the table's own order up to an unreadable one, then in reverse order from the end. */
export function* rowsOf(source: Connection, table: Table): Generator<Found> {
  const first = yield* walk(source, table, 'ASC', undefined);
  if (first === undefined) return;
  const last = yield* walk(source, table, 'DESC', first.after);
  const reason = last?.reason ?? first.reason;
  yield { row: undefined, after: nameOf(first.after), reason };
}

/** Stops at damage, with the last key that was read. */
function* walk(
  source: Connection,
  { name, key: primaryKey, hasRowIds = false }: Table,
  order: 'ASC' | 'DESC',
  until: Key | undefined,
): Generator<Found, { after: Key; reason: string } | undefined> {
  const key = hasRowIds ? ['rowid'] : primaryKey;
  const columns = key.join(', ');
  const marks = key.map(() => '?').join(', ');
  const selected = hasRowIds ? 'rowid, *' : '*';
  const ends = new Set<string>();
  let after: Key = [];
  for (let limit = PAGE; ; ) {
    const bounds = [
      ...(after.length > 0 ? [`(${columns}) ${order === 'ASC' ? '>' : '<'} (${marks})`] : []),
      ...(until && until.length > 0 ? [`(${columns}) > (${marks})`] : []),
    ];
    const where = bounds.length > 0 ? `WHERE ${bounds.join(' AND ')}` : '';
    const ordered = key.map((column) => `${column} ${order}`).join(', ');
    let rows: Row[];
    try {
      rows = source.all<Row>(`SELECT ${selected} FROM ${name} ${where} ORDER BY ${ordered} LIMIT ${limit}`, [
        ...after,
        ...(until ?? []),
      ]);
    } catch (error) {
      if (limit === 1) return { after, reason: reasonOf(error) };
      limit = 1;
      continue;
    }
    for (const { rowid: _, ...row } of rows) yield { row };
    const last = rows.at(-1);
    if (!last) return undefined;
    after = key.map((column) => last[column] ?? null);
    // A damaged page may lead to a cycle.
    if (ends.has(nameOf(after))) return { after, reason: 'its rows are out of order' };
    ends.add(nameOf(after));
  }
}

/** The keys listed in the readable parts of indexes and other tables. */
function* keysOf(
  source: Connection,
  target: Connection,
  table: Table,
  isDamaged: boolean,
): Generator<{ key: Key; isSure: boolean }> {
  const { expected, supposed } = table;
  const selects = [
    ...table.indexes.map((text) => ({ from: source, text, isSure: true })),
    ...(expected === undefined ? [] : [{ from: target, text: expected, isSure: true }]),
    ...(supposed === undefined || (!isDamaged && isWhole(source, table))
      ? []
      : [{ from: target, text: supposed, isSure: false }]),
  ];
  for (const { from, text, isSure } of selects) {
    try {
      for (const row of from.all<Row>(text, [])) yield { key: keyOf(table, row), isSure };
    } catch {
      // A damaged index lists fewer keys; others cover them, or the gap in the table has been reported.
    }
  }
}

function saveOne(
  source: Connection,
  target: Connection,
  table: Table,
  key: Key,
  how: Salvage,
): string | undefined {
  const where = table.key.map((column) => `${column} = ?`).join(' AND ');
  try {
    const row = source.get<Row>(`SELECT * FROM ${table.name} WHERE ${where}`, key);
    return row
      ? saveInto(source, target, table, row, how)
      : 'an index knows it, but the table has no such row';
  } catch (error) {
    return reasonOf(error);
  }
}

/** Undefined when the row was saved completely, else the reason. */
function saveInto(
  source: Connection,
  target: Connection,
  table: Table,
  row: Row,
  how: Salvage,
): string | undefined {
  try {
    table.check('text_key_id' in row && table.name !== 'text_keys' ? withTextKey(source, row) : row);
    if (BOOKS.includes(table.name)) saveOwner(target, row);
    insert(target, table, row);
    return undefined;
  } catch (error) {
    const reason = reasonOf(error);
    return saveWithoutTexts(target, table, row, how) ? `its texts: ${reason}` : reason;
  }
}

function saveWithoutTexts(target: Connection, table: Table, row: Row, how: Salvage): boolean {
  if (!table.withoutTexts) return false;
  try {
    const id = row['text_key_id'] as number;
    target.run(
      'INSERT INTO text_keys (text_key_id, content) VALUES (?, zeroblob(32)) ON CONFLICT DO NOTHING',
      [id],
    );
    const { content } =
      target.get<{ content: Uint8Array }>('SELECT content FROM text_keys WHERE text_key_id = ?', [id]) ?? {};
    insert(target, table, table.withoutTexts(row, { id, key: createSecretKey(content as Uint8Array) }, how));
    return true;
  } catch {
    return false;
  }
}

function withTextKey(source: Connection, row: Row): Row {
  const key = source.get<Row>('SELECT content AS text_key FROM text_keys WHERE text_key_id = ?', [
    row['text_key_id'] as number,
  ]);
  return { ...row, ...key };
}

function insert(target: Connection, { name }: Table, row: Row): void {
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  target.run(`INSERT INTO ${name} (${names.join(', ')}) VALUES (${marks})`, Object.values(row));
}

/** SQLite's message, because ours would advise to run a recovery. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const reason = cause instanceof Error ? cause.message : message;
  return reason === 'FOREIGN KEY constraint failed' ? 'what it belongs to is lost' : reason;
}

export function keyOf({ key }: Table, row: Row): Key {
  return key.map((column) => row[column] ?? null);
}

export function nameOf(key: Key): string {
  return key.join(', ');
}
