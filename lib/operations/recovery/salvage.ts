import type { Random } from '../../base/random.ts';
import { type LostRow, reasonOf } from '../../data-folder/documents/lost-row.ts';
import type { Connection } from '../../databases/sqlite/connection.ts';
import { type RowFormat, textKeyOf } from '../../sql/row-format.ts';
import * as formats from '../../sql/row-formats.ts';
import { INDEX_SETS_IN_SQLITE } from '../../sql/schema/files.ts';
import type { TextKey } from '../../sql/text-keys.ts';
import type { SqlValue } from '../../storage/sql.ts';
import { turn } from '../../time/clock.ts';

type Row = Record<string, SqlValue>;

interface Table {
  name: string;
  key: string[];
  /** The columns by which its rows are stored. Default: the key. */
  order?: string[];
  /** Throws when a row is damaged. */
  check: (row: Row) => void;
  /** A query over saved rows for keys that must exist. */
  expected?: string;
  /** Saves that there was a row of which only the key is known. */
  saveLost?: (target: Connection, key: string) => void;
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

function checked<Rec extends object>(format: RowFormat<Rec>): Table {
  return { name: format.table, key: format.key, check: (row) => void format.record(row) };
}

/** In dependency order: each table refers only to earlier ones. */
const TABLES: Table[] = [
  // A damaged key is detected when its texts are decrypted.
  { name: 'text_keys', key: ['text_key_id'], check: () => {} },
  { ...checked(formats.JOBS), withoutTexts: jobWithoutTexts },
  { ...checked(formats.SOURCES), expected: 'SELECT job_id FROM jobs WHERE forgotten_at_ms IS NULL' },
  checked(formats.TIMELINES),
  checked(formats.REQUESTS),
  checked(formats.SNAPSHOTS),
  checked(formats.FILES),
  checked(formats.FILE_SETS),
  { ...checked(formats.JOB_FILES), saveLost: saveLostFiles },
  checked(formats.SHARES),
  checked(formats.SHARE_JOBS),
  { ...checked(formats.SHARE_VIEWS), expected: 'SELECT share_id FROM shares' },
  checked(formats.SCENES),
  { ...checked(formats.SCENE_DRAFTS), expected: 'SELECT scene_id, revision FROM scenes' },
  checked(formats.SCENE_VERSIONS),
  checked(formats.ASSIGNMENTS),
  checked(formats.ASSIGNMENT_COPIES),
  checked(formats.CLASS_LINKS),
  checked(formats.CLASS_SEATS),
  checked(formats.ACCOUNTS),
  checked(formats.ENTRIES),
  {
    ...checked(formats.GRANTS),
    expected: 'SELECT owner, grant_id FROM ledger_entries WHERE grant_id IS NOT NULL',
  },
  { ...checked(formats.DELIVERIES), withoutTexts: deliveryWithoutTexts },
  {
    ...checked(formats.BODIES),
    expected: 'SELECT delivery_id FROM deliveries JOIN jobs USING (job_id) WHERE forgotten_at_ms IS NULL',
  },
  checked(formats.EXCHANGES),
  checked(formats.SESSIONS),
  checked(formats.ACTS),
  { ...checked(formats.KEY_USES), order: ['rowid'] },
];

const BOOKS = ['grants', 'ledger_entries'];
const PAGE = 500;
/** Replaces the unreadable error of a failed job. */
const ERROR_LOST = 'The render failed. The error message was lost when a disk failed.';
const INDEXES = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?";

/** Keeps cost, times and owner, as for a forgotten job. */
function jobWithoutTexts(row: Row, textKey: TextKey, { now, random }: Salvage): Row {
  const error = row['phase'] === 'failed' ? ERROR_LOST : null;
  const labels = {
    ...{ title: null, tags: null, seed: null, params: null, audio: null, starred: null, project: null },
    ...{ formats: null, selection: null, captions: null },
  };
  const request = { ...labels, metadataJson: null, webhookUrl: null };
  const lost = { ...request, outcome: null, usage: null, diagnosis: null, traceContext: null };
  const texts = { className: '', error, ...lost };
  const job = { ...formats.JOBS.recordWith(texts, row), forgottenAtMs: now.getTime() };
  return { ...row, ...formats.JOBS.cells(job, textKey, random) };
}

/** Whether a job has files is known, but not which: it must not be rendered without them. */
function saveLostFiles(target: Connection, jobId: string): void {
  const isKept = target.get('SELECT 1 AS kept FROM jobs WHERE job_id = ? AND forgotten_at_ms IS NULL', [
    jobId,
  ]);
  if (isKept) target.run(formats.JOB_FILES.insert, formats.JOB_FILES.row({ jobId, setId: '' }));
}

/** Without its texts, a delivery can no longer be sent. */
function deliveryWithoutTexts(row: Row, textKey: TextKey, { random }: Salvage): Row {
  const delivery = formats.DELIVERIES.recordWith({ url: `https://${row['host']}` }, row);
  return { ...row, ...formats.DELIVERIES.cells({ ...delivery, dueAtMs: null }, textKey, random) };
}

/**
 * Copies all readable, intact rows whose references were saved from a damaged database to an empty one. Returns the
 * known rows that could not be saved.
 */
export async function salvage(source: Connection, target: Connection, how: Salvage): Promise<LostRow[]> {
  const lost: LostRow[] = [];
  let rows = 0;
  for (const table of TABLES) {
    const saved = new Set<string>();
    const known = new Set<string>();
    const isKnown = (key: string) => saved.has(key) || known.has(key);
    target.run('BEGIN');
    for (const { key, row, unreadable } of allRows(source, target, table, isKnown)) {
      rows += 1;
      if (rows % PAGE === 0) await turn(); // Lets other events happen, among them an abort.
      how.signal?.throwIfAborted();
      if (row && saved.has(key)) continue; // A damaged page may return a row twice.
      const reason = row ? save(source, target, table, row, how) : unreadable;
      if (reason === undefined) saved.add(key);
      else {
        if (!known.has(key)) table.saveLost?.(target, key);
        known.add(key);
        lost.push({ table: table.name, key, reason });
      }
    }
    target.run('COMMIT');
  }
  target.run(INDEX_SETS_IN_SQLITE);
  return lost;
}

/** Without `row`, it or those between two others cannot be read. */
interface Found {
  key: string;
  row?: Row | undefined;
  unreadable?: string;
}

function* allRows(
  source: Connection,
  target: Connection,
  table: Table,
  isKnown: (key: string) => boolean,
): Generator<Found> {
  yield* rowsFromBothEnds(source, table, isKnown);
  const one = `SELECT * FROM ${table.name} WHERE ${table.key.map((column) => `${column} = ?`).join(' AND ')}`;
  for (const listed of keysOf(source, target, table)) {
    const key = nameOf(table.key, listed);
    if (isKnown(key)) continue;
    try {
      const row = source.get<Row>(one, valuesOf(table.key, listed));
      yield { key, row, unreadable: 'it is referred to, but the table has no such row' };
    } catch (error) {
      yield { key, unreadable: reasonOf(error) };
    }
  }
}

/** All rows in their own order up to an unreadable one, then in reverse order from the end. */
function* rowsFromBothEnds(
  source: Connection,
  { name, key, order = key }: Table,
  isKnown: (key: string) => boolean,
): Generator<Found> {
  const ends = ['the beginning', 'the end'];
  let unreadable = '';
  for (const [end, direction] of ['ASC', 'DESC'].entries()) {
    const ordered = order.map((column) => `${column} ${direction}`).join(', ');
    try {
      for (const row of source.iterate<Row>(`SELECT * FROM ${name} ORDER BY ${ordered}`)) {
        const found = nameOf(key, row);
        if (direction === 'DESC' && isKnown(found)) break;
        yield { key: found, row };
        ends[end] = found;
      }
      if (direction === 'ASC') return;
    } catch (error) {
      unreadable ||= reasonOf(error);
    }
  }
  yield { key: `between ${ends.join(' and ')}`, unreadable };
}

/** The keys in the readable parts of indexes, and those that saved rows require. */
function* keysOf(source: Connection, target: Connection, { name, key, expected }: Table): Generator<Row> {
  const queries = target.all<{ name: string; sql: string | null }>(INDEXES, [name]).map((index) => {
    const where = /\sWHERE\s.*/s.exec(index.sql ?? '')?.[0] ?? '';
    return { from: source, text: `SELECT ${key.join(', ')} FROM ${name} INDEXED BY ${index.name}${where}` };
  });
  if (expected !== undefined) queries.push({ from: target, text: expected });
  for (const { from, text } of queries) {
    try {
      yield* from.iterate<Row>(text);
    } catch {
      // A damaged index lists fewer keys; others cover them, or the gap in the table has been reported.
    }
  }
}

/** Undefined when the row was saved completely, else the reason. */
function save(
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

/** Recreates the account row, so its ledger entries can be saved. */
function saveOwner(target: Connection, { owner }: Row): void {
  const account = formats.ACCOUNTS.row({ owner: owner as string, period: '' });
  target.run(`${formats.ACCOUNTS.insert} ON CONFLICT DO NOTHING`, account);
}

function saveWithoutTexts(target: Connection, table: Table, row: Row, how: Salvage): boolean {
  if (!table.withoutTexts) return false;
  try {
    const id = row['text_key_id'] as number;
    target.run('INSERT INTO text_keys VALUES (?, zeroblob(32)) ON CONFLICT DO NOTHING', [id]);
    const textKey = textKeyOf(withTextKey(target, row));
    insert(target, table, table.withoutTexts(row, textKey, how));
    return true;
  } catch {
    return false;
  }
}

function withTextKey(from: Connection, row: Row): Row {
  const text = 'SELECT content AS text_key FROM text_keys WHERE text_key_id = ?';
  return { ...row, ...from.get<Row>(text, valuesOf(['text_key_id'], row)) };
}

function insert(target: Connection, { name }: Table, row: Row): void {
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  target.run(`INSERT INTO ${name} (${names.join(', ')}) VALUES (${marks})`, Object.values(row));
}

function valuesOf(columns: string[], row: Row): SqlValue[] {
  return columns.map((column) => row[column] ?? null);
}

function nameOf(key: string[], row: Row): string {
  return valuesOf(key, row).join(', ');
}
