import { ScenepressError } from '../../base/errors.ts';
import { COUNT_QUEUE } from '../../sql/owner-turns.ts';
import type { RowFormat } from '../../sql/row-format.ts';
import {
  ACCOUNTS,
  ACTS,
  ASSIGNMENT_COPIES,
  ASSIGNMENTS,
  BODIES,
  CLASS_LINKS,
  CLASS_SEATS,
  DELIVERIES,
  ENTRIES,
  EXCHANGES,
  FILE_SETS,
  FILES,
  GRANTS,
  JOB_FILES,
  JOBS,
  KEY_USES,
  QUEUE,
  REQUESTS,
  SCENE_DRAFTS,
  SCENE_VERSIONS,
  SCENES,
  SESSIONS,
  SHARE_JOBS,
  SHARE_VIEWS,
  SHARES,
  SNAPSHOTS,
  SOURCES,
  TIMELINES,
} from '../../sql/row-formats.ts';
import { INDEX_SETS_IN_SQLITE } from '../../sql/schema/files.ts';
import type { SqlReader, SqlTransaction, SqlValue } from '../../storage/sql.ts';

const PAGE = 500;
/** SQLite allows 32,766 parameters. */
const ROWS_PER_STATEMENT = 50;

type Row = Record<string, SqlValue>;

/** A table that both kinds of databases have. */
interface CopiedTable {
  name: string;
  key: string[];
  /** Throws when a row is damaged. */
  check: (row: Row) => void;
  /** Additional columns that the check needs. */
  extra?: string;
  /** Selects what tells whether two rows with the same key are the same. */
  identity: string[];
}

function checked<Rec extends object>(format: RowFormat<Rec>): CopiedTable {
  return {
    name: format.table,
    key: format.key,
    check: (row) => void format.record(row),
    ...(format.hasTexts && { extra: format.textKey }),
    // Texts are authenticated by their key, and too long to be read for that.
    identity: ['checksum', ...(format.hasTexts ? ['text_key_id', 'length(texts) AS text_length'] : [])],
  };
}

/** Each table refers to earlier ones only. {@link COUNT_QUEUE} derives the turns of the queue, `indexSets` the index of sets. */
export const COPIED_TABLES: CopiedTable[] = [
  { name: 'text_keys', key: ['text_key_id'], check: () => {}, identity: ['content'] },
  ...[
    JOBS,
    SOURCES,
    TIMELINES,
    REQUESTS,
    SNAPSHOTS,
    FILES,
    FILE_SETS,
    JOB_FILES,
    SHARES,
    SHARE_JOBS,
    SHARE_VIEWS,
    SCENES,
    SCENE_DRAFTS,
    SCENE_VERSIONS,
    ASSIGNMENTS,
    ASSIGNMENT_COPIES,
    CLASS_LINKS,
    CLASS_SEATS,
    ACCOUNTS,
    GRANTS,
    ENTRIES,
    QUEUE,
  ].map((format) => checked(format as RowFormat<object>)),
  ...[DELIVERIES, BODIES, EXCHANGES, SESSIONS, ACTS, KEY_USES].map((format) =>
    checked(format as RowFormat<object>),
  ),
];

/** A database of one of the two kinds, for a copy. */
export interface CopySide {
  /** Lists the columns of the table that is its parameter. */
  columnsOf: string;
  /** Fills `set_files`, the index of the entries of sets. */
  indexSets: string;
  /** Between the columns and the values of an INSERT into a table whose key is generated. */
  overriding: string;
}

export const SQLITE_SIDE: CopySide = {
  columnsOf: 'SELECT name FROM pragma_table_info(?)',
  indexSets: INDEX_SETS_IN_SQLITE,
  overriding: '',
};
export const POSTGRES_SIDE: CopySide = {
  columnsOf:
    'SELECT column_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?',
  indexSets: `INSERT INTO set_files (file_id, set_id)
    SELECT DISTINCT entry ->> 'fileId', set_id FROM file_sets, json_array_elements(entries::json) AS entry`,
  overriding: 'OVERRIDING SYSTEM VALUE ',
};

/**
 * Copies all rows as they are, with their checksums and sealed texts, after checking each. Returns the number of rows of
 * each table. Errors: `storage_damaged` for a damaged row; `conflict` when the target lacks a column.
 */
export async function copyRows(
  source: SqlReader & { side: CopySide },
  target: { tx: SqlTransaction; side: CopySide },
  signal: AbortSignal | undefined,
): Promise<Record<string, number>> {
  const copied: Record<string, number> = {};
  for (const table of COPIED_TABLES) {
    const columns = await columnsOf(table.name, source, target);
    copied[table.name] = 0;
    for await (const rows of pagesOf(source, table, columns)) {
      signal?.throwIfAborted();
      for (const row of rows) table.check(row);
      for (let i = 0; i < rows.length; i += ROWS_PER_STATEMENT)
        await insert(target, table, columns, rows.slice(i, i + ROWS_PER_STATEMENT));
      copied[table.name] = (copied[table.name] ?? 0) + rows.length;
    }
  }
  await target.tx.run(COUNT_QUEUE);
  await target.tx.run(target.side.indexSets);
  return copied;
}

/** The columns of a table, all of which the target must have. */
async function columnsOf(
  table: string,
  source: SqlReader & { side: CopySide },
  target: { tx: SqlTransaction; side: CopySide },
): Promise<string[]> {
  const columns = (await source.all<{ name: string }>(source.side.columnsOf, table)).map(({ name }) => name);
  const there = await target.tx.all<{ name: string }>(target.side.columnsOf, table);
  const missing = columns.filter((column) => !there.some(({ name }) => name === column));
  if (columns.length > 0 && missing.length === 0) return columns;
  const lacking =
    columns.length === 0
      ? `The table ${table} is missing.`
      : `The target has no place for ${missing.map((column) => `${table}.${column}`).join(', ')}.`;
  throw new ScenepressError(
    'conflict',
    `${lacking} Nothing was moved. Use the version of Scenepress that wrote the data last.`,
  );
}

/** Rows with some of their columns, in the order of the key. */
export async function* pagesOf(
  source: SqlReader,
  { name, key, extra }: Pick<CopiedTable, 'name' | 'key' | 'extra'>,
  columns: string[],
): AsyncGenerator<Row[]> {
  const selected = [...columns, ...(extra === undefined ? [] : [extra])].join(', ');
  const [keys, marks] = [key.join(', '), key.map(() => '?').join(', ')];
  for (let last: Row | undefined; ; ) {
    const after = last === undefined ? '' : `WHERE (${keys}) > (${marks})`;
    const values = last === undefined ? [] : key.map((column) => last?.[column] as SqlValue);
    const rows: Row[] = await source.all(
      `SELECT ${selected} FROM ${name} ${after} ORDER BY ${keys} LIMIT ${PAGE}`,
      ...values,
    );
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    last = rows.at(-1);
  }
}

async function insert(
  { tx, side }: { tx: SqlTransaction; side: CopySide },
  { name, key }: CopiedTable,
  columns: string[],
  rows: Row[],
): Promise<void> {
  const marks = `(${columns.map(() => '?').join(', ')})`;
  const overriding = key[0] === 'text_key_id' ? side.overriding : '';
  await tx.run(
    `INSERT INTO ${name} (${columns.join(', ')}) ${overriding}VALUES ${rows.map(() => marks).join(', ')}`,
    ...rows.flatMap((row) => columns.map((column) => row[column] as SqlValue)),
  );
}
