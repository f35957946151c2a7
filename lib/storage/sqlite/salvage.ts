import type { RowFormat } from '../sql/row-format.ts';
import type { SqlValue } from '../sql/sql.ts';
import {
  ACCOUNTS,
  ANSWERS,
  BODIES,
  DELIVERIES,
  ENTRIES,
  GRANTS,
  JOBS,
  REQUESTS,
  RESERVES,
  SOURCES,
} from '../sql/tables.ts';
import type { TextKey } from '../sql/text-keys.ts';
import type { Connection } from './connection.ts';

/** A row that can't be saved: `key` in the table `table`. */
export interface LostRow {
  table: string;
  key: string;
  reason: string;
}

type Row = Record<string, SqlValue>;
type Key = SqlValue[];

interface Table {
  name: string;
  key: string[];
  /** Indexes that tell the keys of rows which can't be read. */
  indexes: string[];
  /** Throws when a row isn't as it was written. */
  check: (row: Row) => void;
  /** What is left of a row whose texts can't be read, with new ones. Throws when the rest isn't as it was written. */
  withoutTexts?: (row: Row, textKey: TextKey) => Row;
}

function checked<Rec extends object>(format: RowFormat<Rec>, ...indexes: string[]): Table {
  return {
    name: format.table,
    key: format.key,
    indexes,
    check: (row) => void format.record(row),
  };
}

/** In an order in which each refers only to those before. */
const TABLES: Table[] = [
  // A key that was altered is found with the texts that it opens.
  { name: 'text_keys', key: ['text_key_id'], indexes: [], check: () => {} },
  { ...checked(JOBS, 'jobs_of_owner', 'jobs_in_phase'), withoutTexts: jobWithoutTexts },
  checked(SOURCES),
  checked(REQUESTS, 'idempotent_requests_by_time'),
  checked(ACCOUNTS, 'ledger_accounts_by_period'),
  checked(GRANTS),
  checked(RESERVES, 'open_reserves'),
  checked(ENTRIES, 'ledger_entries_of_owner'),
  {
    ...checked(DELIVERIES, 'deliveries_of_owner', 'deliveries_of_job'),
    withoutTexts: deliveryWithoutTexts,
  },
  checked(BODIES),
  checked(ANSWERS),
];

const PAGE = 500;
/** What the error of a failed job says whose own can't be read any more. */
const ERROR_LOST = 'The render failed. Why was lost when a disk failed.';

/** As if the job had been forgotten: what it cost, when and whom stays. */
function jobWithoutTexts(row: Row, textKey: TextKey): Row {
  const error = row['phase'] === 'failed' ? ERROR_LOST : null;
  const texts = { className: '', metadataJson: null, webhookUrl: null, outcome: null, error };
  const job = { ...JOBS.recordWith(texts, row), forgottenAtMs: Date.now() };
  return { ...row, ...JOBS.cells(job, textKey) };
}

/** It can't be sent any more. */
function deliveryWithoutTexts(row: Row, textKey: TextKey): Row {
  const delivery = { ...DELIVERIES.recordWith({ url: `https://${row['host']}` }, row), dueAtMs: null };
  return { ...row, ...DELIVERIES.cells(delivery, textKey) };
}

/**
 * Copies each row that can be read and is as it was written from a damaged database into an empty one. What a row refers
 * to must have been saved too. Answers with all rows that are known of and could not be saved.
 */
export function salvage(source: Connection, target: Connection): LostRow[] {
  const lost: LostRow[] = [];
  for (const table of TABLES) {
    target.run('BEGIN');
    if (table.name === 'grants') saveOwners(source, target);
    const saved = new Set<string>();
    for (const found of rowsOf(source, table)) {
      const key = nameOf(table.key.map((column) => found.row?.[column] ?? null));
      if (found.row) {
        const reason = saveInto(source, target, table, found.row);
        if (reason === undefined) saved.add(key);
        else lost.push({ table: table.name, key, reason });
      } else {
        lost.push({
          table: table.name,
          key: `after ${found.after || 'the beginning'}`,
          reason: found.reason,
        });
      }
    }
    for (const key of keysIn(source, table)) {
      const name = nameOf(key);
      if (saved.has(name) || lost.some((row) => row.table === table.name && row.key === name)) continue;
      const reason = saveOne(source, target, table, key);
      if (reason !== undefined) lost.push({ table: table.name, key: name, reason });
    }
    target.run('COMMIT');
  }
  return lost;
}

/** An account whose row is lost still has its books. */
function saveOwners(source: Connection, target: Connection): void {
  for (const name of ['grants', 'reserves', 'ledger_entries']) {
    try {
      for (const { owner } of source.all<{ owner: string }>(`SELECT DISTINCT owner FROM ${name}`, [])) {
        target.run(`${ACCOUNTS.insert} ON CONFLICT DO NOTHING`, ACCOUNTS.row({ owner, period: '' }));
      }
    } catch {
      // What can't be read is named when its own table is saved.
    }
  }
}

type Found = { row: Row } | { row: undefined; after: string; reason: string };

/** All rows in the order of the key, up to one that can't be read; and the same from the other end. */
function* rowsOf(source: Connection, table: Table): Generator<Found> {
  const first = yield* walk(source, table, 'ASC', undefined);
  if (first === undefined) return;
  const last = yield* walk(source, table, 'DESC', first.after);
  const reason = last?.reason ?? first.reason;
  yield { row: undefined, after: nameOf(first.after), reason };
}

/** Ends early, with the last key that was read, where the file is damaged. */
function* walk(
  source: Connection,
  { name, key }: Table,
  order: 'ASC' | 'DESC',
  until: Key | undefined,
): Generator<Found, { after: Key; reason: string } | undefined> {
  const columns = key.join(', ');
  const marks = key.map(() => '?').join(', ');
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
      rows = source.all<Row>(`SELECT * FROM ${name} ${where} ORDER BY ${ordered} LIMIT ${limit}`, [
        ...after,
        ...(until ?? []),
      ]);
    } catch (error) {
      if (limit === 1) return { after, reason: reasonOf(error) };
      limit = 1;
      continue;
    }
    for (const row of rows) yield { row };
    const last = rows.at(-1);
    if (!last) return undefined;
    after = key.map((column) => last[column] ?? null);
  }
}

/** The keys that indexes know of, as far as those can be read. */
function* keysIn(source: Connection, { name, key, indexes }: Table): Generator<Key> {
  for (const index of indexes) {
    try {
      for (const row of source.all<Row>(`SELECT ${key.join(', ')} FROM ${name} INDEXED BY ${index}`, [])) {
        yield key.map((column) => row[column] ?? null);
      }
    } catch {
      // A damaged index knows less; what the others know is enough, or the gap in the table was named.
    }
  }
}

function saveOne(source: Connection, target: Connection, table: Table, key: Key): string | undefined {
  const where = table.key.map((column) => `${column} = ?`).join(' AND ');
  try {
    const row = source.get<Row>(`SELECT * FROM ${table.name} WHERE ${where}`, key);
    return row ? saveInto(source, target, table, row) : 'an index knows it, but the table has no such row';
  } catch (error) {
    return reasonOf(error);
  }
}

/** Undefined when it is saved, or else why it, or a part of it, isn't. */
function saveInto(source: Connection, target: Connection, table: Table, row: Row): string | undefined {
  try {
    table.check('text_key_id' in row && table.name !== 'text_keys' ? withTextKey(source, row) : row);
    insert(target, table, row);
    return undefined;
  } catch (error) {
    const reason = reasonOf(error);
    return saveWithoutTexts(target, table, row) ? `its texts: ${reason}` : reason;
  }
}

function saveWithoutTexts(target: Connection, table: Table, row: Row): boolean {
  if (!table.withoutTexts) return false;
  try {
    const id = row['text_key_id'] as number;
    target.run(
      'INSERT INTO text_keys (text_key_id, content) VALUES (?, zeroblob(32)) ON CONFLICT DO NOTHING',
      [id],
    );
    const { content } =
      target.get<{ content: Uint8Array }>('SELECT content FROM text_keys WHERE text_key_id = ?', [id]) ?? {};
    insert(target, table, table.withoutTexts(row, { id, key: content as Uint8Array }));
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

/** In SQLite's own words: those for an operator say to do what is being done. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const reason = cause instanceof Error ? cause.message : message;
  return reason === 'FOREIGN KEY constraint failed' ? 'what it belongs to is lost' : reason;
}

function nameOf(key: Key): string {
  return key.join(', ');
}
